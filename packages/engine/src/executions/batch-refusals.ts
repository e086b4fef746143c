import { PROBLEMS } from "@platform/contract/problems";
import type { Problem } from "@platform/contract/problems";
import type { BatchRefusal } from "../store/batches.ts";

/** Fields at fault of one item. */
const MAX_ERRORS = 5;
const MAX_DETAIL = 500;
/** Text of all refusals of a batch; beyond it, those that follow say no more than their code. */
const MAX_TEXT = 256 * 1024;

/** Why items are refused, as far as it is kept. */
export interface BatchRefusals {
  readonly add: (index: number, problem: Problem) => void;
  /** Each reason once. */
  readonly list: () => readonly BatchRefusal[];
}

/** None at first. A thousand invalid items can have a hundred megabytes of pointers: that is cut. */
export function createBatchRefusals(): BatchRefusals {
  const known = new Map<string, { readonly reason: Omit<BatchRefusal, "at">; readonly at: number[] }>();
  let text = 0;
  return {
    add: (index, problem) => {
      let reason = describe(problem);
      let key = JSON.stringify(reason);
      if (!known.has(key) && text + key.length > MAX_TEXT) {
        reason = { code: problem.code, detail: PROBLEMS[problem.code].detail };
        key = JSON.stringify(reason);
      }
      const same = known.get(key);
      same?.at.push(index);
      if (same !== undefined) return;
      text += key.length;
      known.set(key, { reason, at: [index] });
    },
    list: () => [...known.values()].map(({ reason, at }) => ({ ...reason, at })),
  };
}

function describe(problem: Problem): Omit<BatchRefusal, "at"> {
  const { code, detail, errors } = problem.toBody();
  const seconds = Number(problem.headers["retry-after"]);
  return {
    code,
    detail: detail.slice(0, MAX_DETAIL),
    ...(errors === undefined ? {} : { errors: errors.slice(0, MAX_ERRORS) }),
    ...(Number.isInteger(seconds) && seconds > 0 ? { retryAfterSeconds: seconds } : {}),
  };
}
