/*
 * A schema that came from user code, read once into nodes, and a body walked by it.
 *
 * The verdict has three values. A schema may say more than the door checks (`pattern`, `format`, a keyword that we do not
 * know); where that matters the verdict is "unknown", and the run decides. Only what is certainly wrong is refused.
 *
 * Each pair of a node and a place in the body is judged once and remembered, so that unions that refer to each other cost
 * their number times the body's size, not a power of it. Every judgement takes a step of a budget, which bounds the rest.
 */

/** Why a body does not fit: a place and what Ajv would say of it. */
export interface Mismatch {
  readonly place: Place;
  readonly message: string;
}

/** A list of mismatches is never empty: it means "invalid". */
export type Verdict = "valid" | "unknown" | readonly Mismatch[];

export type Check = (place: Place, walk: Walk) => Verdict;

export interface SchemaNode {
  readonly checks: Check[];
  /** Nodes that judge the same place: `$ref`, `anyOf`, `oneOf`, `allOf`. */
  readonly inPlace: SchemaNode[];
  /** Judges a value without looking at other nodes: cheaper to do again than to remember. */
  isLeaf: boolean;
}

/** A value of the body with the way to it; made only where it is needed. */
export interface Place {
  readonly value: unknown;
  readonly parent: Place | null;
  readonly key: string | number;
  verdicts: Map<SchemaNode, Verdict> | null;
  children: Map<string | number, Place> | null;
}

/** One walk through one body. */
export interface Walk {
  steps: number;
  depth: number;
}

/** The walk would cost more than a start may cost: nothing is known of the body. */
export class WalkTooLong extends Error {
  override readonly name = "WalkTooLong";
}

/**
 * At most some 50 ms of one core (2026-11-22, machine shared with other work); a list of 100,000 numbers takes 100,000 steps
 * and 1 ms, 40,000 models with two fields 400,000 steps and 40 ms.
 */
export const MAX_STEPS = 500_000;
const REMEMBERING_STEPS = 2;
/** Nodes within nodes, so that no body overflows the stack. */
const MAX_DEPTH = 1_000;
export const MAX_MISMATCHES = 20;

/** @throws WalkTooLong */
export function spend(walk: Walk, steps: number): void {
  walk.steps += steps;
  if (walk.steps > MAX_STEPS) throw new WalkTooLong("the body takes too many steps");
}

export function createPlace(value: unknown, parent: Place | null, key: string | number): Place {
  return { value, parent, key, verdicts: null, children: null };
}

/** @throws WalkTooLong */
export function judge(node: SchemaNode, place: Place, walk: Walk): Verdict {
  spend(walk, 1);
  if (node.isLeaf) return runChecks(node, place, walk);
  const known = place.verdicts?.get(node);
  if (known !== undefined) return known;
  spend(walk, REMEMBERING_STEPS);
  if (walk.depth >= MAX_DEPTH) throw new WalkTooLong("the body goes too deep");
  walk.depth += 1;
  const verdict = runChecks(node, place, walk);
  walk.depth -= 1;
  (place.verdicts ??= new Map()).set(node, verdict);
  return verdict;
}

/** A member of an array or object, by its index or name. */
export interface Member {
  readonly key: string | number;
  readonly value: unknown;
}

/** Judges a member of what stands at `parent`. */
export function judgeMember(node: SchemaNode, parent: Place, { key, value }: Member, walk: Walk): Verdict {
  if (node.isLeaf) return judge(node, createPlace(value, parent, key), walk);
  parent.children ??= new Map();
  let place = parent.children.get(key);
  if (place === undefined) parent.children.set(key, (place = createPlace(value, parent, key)));
  return judge(node, place, walk);
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

export function isMismatch(verdict: Verdict): verdict is readonly Mismatch[] {
  return typeof verdict !== "string";
}

export function mismatch(place: Place, message: string): readonly Mismatch[] {
  return [{ place, message }];
}
