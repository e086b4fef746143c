import { isRecord } from "@platform/engine/base/json";
import type { Schema } from "@platform/engine/input-schema/reading";

/** A schema and the document that its references point into. */
interface Side {
  readonly root: Schema;
  readonly schema: Schema;
}

interface Pair {
  readonly before: Side;
  readonly after: Side;
  readonly path: string;
}

/** Schemas come from user code, so the comparison is bounded; beyond that, changes are not found. */
const MAX_STEPS = 20_000;
const MAX_REFERENCES = 20;

/** What is left of the steps of comparisons that are made for one request. */
export interface StepBudget {
  steps: number;
}

/** As much as one comparison may take. */
export function createStepBudget(): StepBudget {
  return { steps: MAX_STEPS };
}

/** The first of these changes; null: there is none. */
export function findBreakingChange(
  before: Schema | null,
  after: Schema | null,
  budget?: StepBudget,
): string | null {
  return listBreakingChanges(before, after, 1, budget)[0] ?? null;
}

/**
 * Changes that make the new schema refuse input that the old one accepts, each as a clause without a period, at most so many. Finds new
 * required properties, removed properties where no others are allowed, and narrower types, but no finer constraints. A schema of null
 * accepts everything.
 */
export function listBreakingChanges(
  before: Schema | null,
  after: Schema | null,
  most: number,
  budget: StepBudget = createStepBudget(),
): readonly string[] {
  // Most versions leave it as it was, which takes no steps from those that do not.
  if (after === null || JSON.stringify(before) === JSON.stringify(after)) return [];
  const found: string[] = [];
  const old = before ?? {};
  const seen = new Map<Schema, Set<Schema>>();
  const queue: Pair[] = [
    { before: { root: old, schema: old }, after: { root: after, schema: after }, path: "" },
  ];
  while (queue.length > 0 && found.length < most && takeStep(budget)) {
    const [pair] = queue.splice(0, 1);
    if (!pair) break;
    const resolved = { before: resolve(pair.before), after: resolve(pair.after), path: pair.path };
    if (isSeen(seen, resolved)) continue;
    const narrowed = findNarrowedType(resolved, budget);
    // What is of another type has no parts to compare.
    if (narrowed !== null) found.push(narrowed);
    else {
      found.push(...listChangedProperties(resolved));
      queue.push(...listChildren(resolved));
    }
  }
  return found.slice(0, most);
}

function takeStep(budget: StepBudget): boolean {
  budget.steps -= 1;
  return budget.steps >= 0;
}

function isSeen(seen: Map<Schema, Set<Schema>>, { before, after }: Pair): boolean {
  const partners = seen.get(before.schema) ?? new Set();
  if (partners.has(after.schema)) return true;
  seen.set(before.schema, partners.add(after.schema));
  return false;
}

function findNarrowedType(pair: Pair, budget: StepBudget): string | null {
  const old = listTypes(pair.before, budget);
  const fresh = listTypes(pair.after, budget);
  if (old === null || fresh === null || [...old].every((type) => takes(fresh, type))) return null;
  const what = pair.path === "" ? "the input" : pair.path;
  return `${what} was ${[...old].join(" or ")} and is now ${[...fresh].join(" or ")}`;
}

function listChangedProperties({ before, after, path }: Pair): readonly string[] {
  const wasRequired = new Set(readStrings(before.schema["required"]));
  const required = readStrings(after.schema["required"])
    .filter((name) => !wasRequired.has(name))
    .map((name) => `${path}/${name} is now required`);
  if (after.schema["additionalProperties"] !== false) return required;
  const kept = readObject(after.schema["properties"]) ?? {};
  const gone = Object.keys(readObject(before.schema["properties"]) ?? {})
    .filter((name) => !Object.hasOwn(kept, name))
    .map((name) => `${path}/${name} is no longer accepted`);
  return [...required, ...gone];
}

function takes(types: ReadonlySet<string>, type: string): boolean {
  return types.has(type) || (type === "integer" && types.has("number"));
}

function listChildren({ before, after, path }: Pair): readonly Pair[] {
  const pairOf = (old: unknown, fresh: unknown, childPath: string): readonly Pair[] => {
    const oldSchema = readObject(old);
    const freshSchema = readObject(fresh);
    if (!oldSchema || !freshSchema) return [];
    return [
      { before: { ...before, schema: oldSchema }, after: { ...after, schema: freshSchema }, path: childPath },
    ];
  };
  const fresh = readObject(after.schema["properties"]) ?? {};
  return [
    ...Object.entries(readObject(before.schema["properties"]) ?? {}).flatMap(([name, schema]) =>
      Object.hasOwn(fresh, name) ? pairOf(schema, fresh[name], `${path}/${name}`) : [],
    ),
    ...pairOf(before.schema["items"], after.schema["items"], `${path}/*`),
  ];
}

/** Follows `$ref` within the document. */
function resolve(side: Side): Side {
  let schema = side.schema;
  for (let step = 0; step < MAX_REFERENCES; step++) {
    const reference = schema["$ref"];
    if (typeof reference !== "string" || !reference.startsWith("#/")) break;
    let target: Schema | null = side.root;
    for (const part of reference.slice(2).split("/")) {
      target = target !== null && Object.hasOwn(target, part) ? readObject(target[part]) : null;
    }
    if (target === null) break;
    schema = target;
  }
  return { root: side.root, schema };
}

/** The JSON types that a schema accepts; null when it does not restrict them. */
function listTypes(side: Side, budget: StepBudget): ReadonlySet<string> | null {
  if (!takeStep(budget)) return null;
  const { root, schema } = resolve(side);
  if (typeof schema["type"] === "string") return new Set([schema["type"]]);
  if (Array.isArray(schema["type"])) return new Set(readStrings(schema["type"]));
  const branches = schema["anyOf"] ?? schema["oneOf"];
  if (!Array.isArray(branches)) return null;
  const all = new Set<string>();
  for (const branch of branches) {
    const branchSchema = readObject(branch);
    // Only one level, which `X | None` needs: a union that contains itself would never end.
    const types =
      branchSchema && isUnion(resolve({ root, schema: branchSchema }).schema)
        ? null
        : listTypes({ root, schema: branchSchema ?? {} }, budget);
    if (types === null) return null;
    for (const type of types) all.add(type);
  }
  return all;
}

function isUnion(schema: Schema): boolean {
  return schema["anyOf"] !== undefined || schema["oneOf"] !== undefined;
}

function readObject(value: unknown): Schema | null {
  return isRecord(value) ? value : null;
}

function readStrings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
