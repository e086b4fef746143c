import type { ExecutionResult } from "@platform/contract/execution";
import { createExactJson } from "../base/exact-json.ts";
import type { Session } from "../base/session.ts";

/** The answer of the result operation, and the same with every number as the service wrote it. */
export interface JobResult {
  readonly answer: ExecutionResult;
  readonly exact: Readonly<Record<string, unknown>>;
  /** Writes `exact` and parts of it as JSON text. */
  readonly stringify: (value: unknown) => string;
}

/** Reads the result of a job; a failed job has one as well, with `code` and `detail`. */
export async function readJobResult(session: Session, id: string): Promise<JobResult> {
  let text = "";
  const client = session.connect({
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
