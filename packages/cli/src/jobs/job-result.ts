import type { ExecutionResult } from "@platform/contract/execution";
import { MEGABYTE } from "@platform/engine/base/bytes";
import { createExactJson } from "../base/exact-json.ts";
import type { Session } from "../base/session.ts";

/** Response of the result operation. */
export interface JobResult {
  /** The response with numbers as JavaScript numbers. */
  readonly answer: ExecutionResult;
  /** The same response with numbers as the service wrote them, in the form of `ExactJson`. */
  readonly exact: Readonly<Record<string, unknown>>;
  /** Writes `exact` or a part of it as JSON. */
  readonly stringify: (value: unknown) => string;
}

/** A text of Node.js has hardly more. */
const MAX_RESULT_BYTES = 500 * MEGABYTE;

/** Reads the result of a finished job. If it did not succeed, the result has `code` and `detail`. */
export async function readJobResult(session: Session, id: string): Promise<JobResult> {
  let text = "";
  const client = session.connect({
    maxAnswerBytes: MAX_RESULT_BYTES,
    onText: (seen) => {
      text = seen;
    },
  });
  const answer = await client.getJobResult({ params: { id } });
  const { parse, stringify } = createExactJson();
  return { answer, exact: { ...answer, ...toObject(parse(text)) }, stringify };
}

function toObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}
