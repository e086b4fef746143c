import { decodePointer } from "@platform/contract/schemas";
import { isRecord } from "../base/json.ts";
import { findExcess } from "./bounds.ts";
import { ANNOTATIONS, KEYWORDS } from "./keywords.ts";
import { SchemaError } from "./reading.ts";
import type { Reading, Schema } from "./reading.ts";
import { mismatch } from "./schema-node.ts";
import type { SchemaNode } from "./schema-node.ts";

const LOOP = "refers to itself without an object or array in between";
const NOWHERE = "has a $ref that leads nowhere";
/** Identifiers would change the meaning of references within the schema. */
const IDENTIFIERS = ["$id", "$anchor", "$dynamicAnchor"];

/**
 * Reads one member of an input schema.
 * @returns null when the schema does not constrain this member
 * @throws SchemaError for an invalid schema, and for one whose check would not terminate
 */
export function compileMember(schema: Schema, key: "data" | "params"): SchemaNode | null {
  const excess = findExcess(schema);
  if (excess !== null) throw new SchemaError(excess);
  const { properties } = schema;
  if (!isRecord(properties) || !Object.hasOwn(properties, key)) return null;
  const document = createDocument(schema);
  const root = document.getNode(properties[key]);
  // Reading a schema adds those that it refers to: a queue, not a recursion, since chains of references may be long.
  for (const [found, node] of document.nodes) readSchema(found, node, document);
  const nodes = [...document.nodes.values()];
  refuseLoops(nodes);
  markRepeated(nodes);
  return root;
}

interface Document {
  readonly root: Schema;
  readonly nodes: ReadonlyMap<unknown, SchemaNode>;
  /** The node of a schema; a new one is queued to be filled. */
  readonly getNode: (schema: unknown) => SchemaNode;
}

function createDocument(root: Schema): Document {
  const nodes = new Map<unknown, SchemaNode>();
  const targets = new Map<unknown, unknown>();
  return {
    root,
    nodes,
    getNode: (given) => {
      const schema = followReferences(given, root, targets);
      const known = nodes.get(schema);
      if (known !== undefined) return known;
      const node: SchemaNode = { checks: [], inPlace: [], members: [], isRepeated: false, isLeaf: true };
      nodes.set(schema, node);
      return node;
    },
  };
}

function readSchema(schema: unknown, node: SchemaNode, document: Document): void {
  if (schema === true) return;
  if (schema === false) return void node.checks.push((place) => mismatch(place, "boolean schema is false"));
  if (!isRecord(schema)) throw new SchemaError("has a subschema that is neither an object nor a boolean");
  // What has a name of its own is left to the run as a whole.
  if (schema !== document.root && IDENTIFIERS.some((keyword) => Object.hasOwn(schema, keyword)))
    return void node.checks.push(() => "unknown");
  const reading = createReading(schema, node, document);
  for (const [keyword, readKeyword] of Object.entries(KEYWORDS))
    if (Object.hasOwn(schema, keyword)) node.checks.push(readKeyword(schema[keyword], reading));
  if (Object.keys(schema).some(isFurther)) node.checks.push(() => "unknown");
}

function createReading(schema: Schema, node: SchemaNode, document: Document): Reading {
  const readInto = (nodes: SchemaNode[], found: unknown) => {
    const next = document.getNode(found);
    nodes.push(next);
    node.isLeaf = false;
    return next;
  };
  const readMember = (found: unknown) => readInto(node.members, found);
  const readSame = (found: unknown) => readInto(node.inPlace, found);
  return {
    schema,
    readMember,
    readSame,
    readReference: (reference) => readSame(findReference(document.root, reference)),
  };
}

/** Whether a keyword constrains the value in a way that is not checked before the run. */
function isFurther(keyword: string): boolean {
  return !Object.hasOwn(KEYWORDS, keyword) && !ANNOTATIONS.has(keyword);
}

/** A schema that consists of a reference only is replaced by its target: most references of pydantic are of this kind. */
function followReferences(schema: unknown, root: Schema, targets: Map<unknown, unknown>): unknown {
  const passed = new Set<unknown>();
  let found = schema;
  while (isRecord(found) && typeof found["$ref"] === "string" && isBareReference(found)) {
    if (passed.has(found)) throw new SchemaError(LOOP);
    passed.add(found);
    found = targets.get(found) ?? findReference(root, found["$ref"]);
  }
  for (const each of passed) targets.set(each, found);
  return found;
}

function isBareReference(schema: Schema): boolean {
  return Object.keys(schema).every((keyword) => keyword === "$ref" || ANNOTATIONS.has(keyword));
}

/** A JSON pointer within the document (RFC 6901). */
function findReference(root: Schema, reference: string): unknown {
  if (reference !== "#" && !reference.startsWith("#/")) throw new SchemaError(NOWHERE);
  let found: unknown = root;
  for (const part of reference.split("/").slice(1)) {
    const name = decodePointer(part);
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, name))
      throw new SchemaError(NOWHERE);
    found = (found as Schema)[name];
  }
  return found;
}

/** Of what goes to members, each has a node of its own: a place below is reached by one way, unless two nodes shared one above it. */
function markRepeated(nodes: readonly SchemaNode[]): void {
  const repeated = new Set(nodes.flatMap(({ inPlace }) => inPlace));
  for (const node of repeated) {
    node.isRepeated = true;
    for (const next of [...node.inPlace, ...node.members]) repeated.add(next);
  }
}

/** Refuses a schema that refers to itself for the same value: its check would not terminate. Kahn's topological sort. */
function refuseLoops(nodes: readonly SchemaNode[]): void {
  const waiting = new Map(nodes.map((node) => [node, 0]));
  for (const { inPlace } of nodes)
    for (const node of inPlace) waiting.set(node, (waiting.get(node) ?? 0) + 1);
  const free = nodes.filter((node) => waiting.get(node) === 0);
  for (const node of free) {
    waiting.delete(node);
    for (const next of node.inPlace) {
      const left = (waiting.get(next) ?? 0) - 1;
      waiting.set(next, left);
      if (left === 0) free.push(next);
    }
  }
  if (waiting.size > 0) throw new SchemaError(LOOP);
}
