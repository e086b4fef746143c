import { Problem } from "@platform/contract/problems";

/** For a `cursor` that is not the `nextCursor` of a page of the same list or log. */
export function refuseCursor(): Problem {
  return new Problem("INVALID_INPUT", "The cursor is not valid for this list.");
}
