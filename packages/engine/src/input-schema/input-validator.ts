import { Problem } from "@platform/contract/problems";
import type { FieldError } from "@platform/contract/problems";
import { createCache } from "../base/cache.ts";
import { compileMember } from "./compile.ts";
import { SchemaError } from "./reading.ts";
import type { Schema } from "./reading.ts";
import { createPlace, isMismatch, judge, MAX_MISMATCHES, WalkTooLong } from "./schema-node.ts";
import type { Place, SchemaNode, Walk } from "./schema-node.ts";

const MAX_SCHEMAS = 500;
const MAX_SEGMENT = 100;
const MEMBERS = ["data", "params"] as const;
type Member = (typeof MEMBERS)[number];

/** The parts of a start body that are checked; a member given by reference is not. */
interface CheckedBody extends Readonly<Record<Member, Readonly<Record<string, unknown>> | undefined>> {
  readonly references: Readonly<Partial<Record<Member, unknown>>>;
}

interface Compiled {
  /** Null for a member that is not checked before the run. */
  readonly nodes: Readonly<Record<Member, SchemaNode | null>>;
  isReported: boolean;
}

/**
 * Checks `data` and `params` given by value against the schema that was derived from `run`. Accepts input that it cannot decide on
 * within its budget: the run checks everything again. @throws Problem INVALID_INPUT with JSON pointers
 */
export type InputValidator = (versionId: string, schema: Schema | null, body: CheckedBody) => void;

/**
 * Has no schemas at first: it compiles each when it is first needed, and keeps at most 500, by version. `onUndecided` is called once per
 * version when input was accepted unchecked because the check takes too long.
 */
export function createInputValidator(onUndecided?: (versionId: string) => void): InputValidator {
  const known = createCache<Compiled>({ maxEntries: MAX_SCHEMAS });
  const compile = (versionId: string, schema: Schema): Compiled => {
    const compiled = { nodes: compileInput(schema), isReported: false };
    known.set(versionId, compiled);
    return compiled;
  };
  return (versionId, schema, body) => {
    if (schema === null) return;
    const compiled = known.peek(versionId) ?? compile(versionId, schema);
    const errors = findErrors(compiled.nodes, body);
    if (errors === null && !compiled.isReported) {
      compiled.isReported = true;
      onUndecided?.(versionId);
    }
    if (errors === null || errors.length === 0) return;
    const first = errors.slice(0, 3).map((error) => `${error.path} ${error.message}`);
    throw new Problem(
      "INVALID_INPUT",
      `The input does not fit the types that the service declares: ${first.join(" ")}`,
      { errors },
    );
  };
}

/** Why `data` or `params` cannot be checked before the run, as the end of a sentence; null where both can. */
export function findUncheckable(schema: Schema): string | null {
  for (const member of MEMBERS) {
    const found = tryCompile(schema, member);
    if (found instanceof SchemaError) return found.message;
  }
  return null;
}

function compileInput(schema: Schema): Compiled["nodes"] {
  const compile = (member: Member) => {
    const found = tryCompile(schema, member);
    // A caller is not refused because of a schema that cannot be read: the run checks its input itself.
    return found instanceof SchemaError ? null : found;
  };
  return { data: compile("data"), params: compile("params") };
}

function tryCompile(schema: Schema, member: Member): SchemaNode | SchemaError | null {
  try {
    return compileMember(schema, member);
  } catch (error) {
    if (error instanceof SchemaError) return error;
    throw error;
  }
}

/** Null when the check would take too long. */
function findErrors(nodes: Compiled["nodes"], body: CheckedBody): readonly FieldError[] | null {
  const walk = { steps: 0, depth: 0 };
  try {
    return MEMBERS.flatMap((member) =>
      body.references[member] === undefined
        ? findMemberErrors(nodes[member], member, body[member] ?? {}, walk)
        : [],
    );
  } catch (error) {
    if (error instanceof WalkTooLong) return null;
    throw error;
  }
}

function findMemberErrors(
  node: SchemaNode | null,
  member: Member,
  value: unknown,
  walk: Walk,
): readonly FieldError[] {
  if (node === null) return [];
  const verdict = judge(node, createPlace(value, null, member), walk);
  if (!isMismatch(verdict)) return [];
  return verdict.slice(0, MAX_MISMATCHES).map(({ place, message }) => ({
    path: toPointer(place),
    message: `${message}.`,
  }));
}

/** A JSON pointer (RFC 6901). Names are truncated, so that an answer is never as large as the body. */
function toPointer({ parent, key }: Place): string {
  const segment = String(key).slice(0, MAX_SEGMENT).replaceAll("~", "~0").replaceAll("/", "~1");
  return `${parent === null ? "" : toPointer(parent)}/${segment}`;
}
