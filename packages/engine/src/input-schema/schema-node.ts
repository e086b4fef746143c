/*
 * A schema that came from user code, compiled once into nodes, and the check of a body against it.
 *
 * The verdict has three values. A schema may require more than is checked here (`pattern`, `format`, an unknown
 * keyword); where that matters the verdict is "unknown", and the run decides. Only input that is certainly invalid is refused.
 *
 * A node that may be applied to one place by several others is checked there once, and the verdict remembered, so that the cost of unions
 * that refer to each other is their number times the body's size, not a power of it. Every check takes a step of a budget, which bounds the
 * rest.
 */

/** Why a body is invalid: a place, and the message that Ajv would give. */
export interface Mismatch {
  readonly place: Place;
  readonly message: string;
}

/** A list of mismatches is never empty: it means "invalid". */
export type Verdict = "valid" | "unknown" | readonly Mismatch[];

/** One keyword of a schema, applied to one value. @throws WalkTooLong */
export type Check = (place: Place, walk: Walk) => Verdict;

/** A compiled schema: a value is valid for it when all checks say so. Mutable, since schemas may refer to themselves. */
export interface SchemaNode {
  readonly checks: Check[];
  /** Nodes that are applied to the same place: `$ref`, `anyOf`, `oneOf`, `allOf`. */
  readonly inPlace: SchemaNode[];
  /** Nodes that are applied to members of the value. */
  readonly members: SchemaNode[];
  /** Stands in the place of another node, or somewhere below one that does: only such a node can be applied twice to one place. */
  isRepeated: boolean;
  /** Checks a value without other nodes: cheaper to repeat than to remember. */
  isLeaf: boolean;
}

/** A value of the body with the path to it; created only when it is needed. */
export interface Place {
  value: unknown;
  readonly parent: Place | null;
  key: string | number;
  verdicts: Map<SchemaNode, Verdict> | null;
  children: Map<string | number, Place> | null;
}

/** One walk through one body. */
export interface Walk {
  steps: number;
  depth: number;
}

/** The check would exceed the budget of a start: nothing is known about the body. */
export class WalkTooLong extends Error {
  override readonly name = "WalkTooLong";
}

/**
 * At most some 50 ms of one core (2026-11-23, machine shared with other work); a list of 100,000 numbers takes 100,000 steps
 * and 1 ms, 40,000 models with two fields 280,000 steps and 10 ms.
 */
export const MAX_STEPS = 500_000;
const REMEMBERING_STEPS = 2;
/** Maximum nesting of node checks, so that no body overflows the stack. */
const MAX_DEPTH = 1_000;
/** Maximum number of errors in an answer for each of `data` and `params`. */
export const MAX_MISMATCHES = 20;

/** @throws WalkTooLong */
export function spend(walk: Walk, steps: number): void {
  walk.steps += steps;
  if (walk.steps > MAX_STEPS) throw new WalkTooLong("the body takes too many steps");
}

/** A place without verdicts. `parent` is null for the top; `key` is then `data` or `params`. */
export function createPlace(value: unknown, parent: Place | null, key: string | number): Place {
  return { value, parent, key, verdicts: null, children: null };
}

/** @throws WalkTooLong */
export function judge(node: SchemaNode, place: Place, walk: Walk): Verdict {
  spend(walk, 1);
  if (node.isLeaf) return runChecks(node, place, walk);
  if (!node.isRepeated) return goDeeper(node, place, walk);
  const known = place.verdicts?.get(node);
  if (known !== undefined) return known;
  spend(walk, REMEMBERING_STEPS);
  const verdict = goDeeper(node, place, walk);
  (place.verdicts ??= new Map()).set(node, verdict);
  return verdict;
}

function goDeeper(node: SchemaNode, place: Place, walk: Walk): Verdict {
  if (walk.depth >= MAX_DEPTH) throw new WalkTooLong("the body goes too deep");
  walk.depth += 1;
  const verdict = runChecks(node, place, walk);
  walk.depth -= 1;
  return verdict;
}

/** A member of an array or object, by its index or name. */
export interface Member {
  readonly key: string | number;
  readonly value: unknown;
}

/** Checks a member of the value at `parent`. */
export function judgeMember(node: SchemaNode, parent: Place, { key, value }: Member, walk: Walk): Verdict {
  if (node.isLeaf || !node.isRepeated) return judge(node, createPlace(value, parent, key), walk);
  parent.children ??= new Map();
  let place = parent.children.get(key);
  if (place === undefined) parent.children.set(key, (place = createPlace(value, parent, key)));
  return judge(node, place, walk);
}

/** Checks the items of the array at `parent` from an index on. */
export function judgeItems(
  node: SchemaNode,
  parent: Place,
  { items, from }: { readonly items: readonly unknown[]; readonly from: number },
  walk: Walk,
): Verdict {
  let verdict: Verdict = "valid";
  // Only a mismatch keeps a place that is not shared, and ends the loop: one place for all instead of 125,000 for as many numbers.
  const own = node.isLeaf || !node.isRepeated ? createPlace(undefined, parent, from) : null;
  for (let at = from; at < items.length; at++) {
    const value = items[at];
    const found =
      own === null
        ? judgeMember(node, parent, { key: at, value }, walk)
        : judge(node, moveTo(own, at, value), walk);
    if (isMismatch(found)) return found;
    if (found === "unknown") verdict = found;
  }
  return verdict;
}

function moveTo(place: Place, key: number, value: unknown): Place {
  place.key = key;
  place.value = value;
  place.verdicts = null;
  place.children = null;
  return place;
}

function runChecks(node: SchemaNode, place: Place, walk: Walk): Verdict {
  let verdict: Verdict = "valid";
  for (const check of node.checks) {
    const found = check(place, walk);
    if (isMismatch(found)) return found;
    if (found === "unknown") verdict = found;
  }
  return verdict;
}

/** Whether the verdict is "invalid". */
export function isMismatch(verdict: Verdict): verdict is readonly Mismatch[] {
  return typeof verdict !== "string";
}

/** The verdict "invalid" for one reason. `message` follows the path in a sentence. */
export function mismatch(place: Place, message: string): readonly Mismatch[] {
  return [{ place, message }];
}
