import type { QuantumJob } from "@platform/contract/quantum-api/jobs";
import { MEGABYTE } from "@platform/engine/base/bytes";
import { isRecord } from "@platform/engine/base/json";
import type { CommandResult } from "../base/command.ts";
import type { CommandContext } from "../base/context.ts";
import { createExactJson } from "../base/exact-json.ts";
import { cleanText } from "../base/output.ts";
import type { Output } from "../base/output.ts";
import type { Session } from "../base/session.ts";
import { retryRead } from "../base/wait.ts";
import { readCounts } from "./counts.ts";
import type { Counts } from "./counts.ts";
import { printEstimate } from "./print-estimate.ts";

/** Outcomes that a terminal is shown of each circuit. */
const SHOWN = 16;
/** A text of Node.js has hardly more. */
const MAX_RESULT_BYTES = 500 * MEGABYTE;

/** Prints what has become of a job that has ended: counts, the result as it is, an estimate, or why there is none. */
export async function printResult(
  { output, signal }: Pick<CommandContext, "output" | "signal">,
  session: Session,
  job: QuantumJob,
): Promise<CommandResult> {
  const { result, exact, stringify } = await retryRead(() => readResult(session, job.id), signal);
  if (job.status !== "COMPLETED") {
    output.note(`${output.paintNote("red", "error:")} ${describeEnd(job)}`);
    output.note(`See its log with 'platform logs ${job.id}'.`);
    return { json: { job, result }, succeeded: false };
  }
  if (job.dry_run) return printEstimate(output, isRecord(result) ? result : {});
  const counts = readCounts(result);
  if (counts === null) {
    output.print(stringify(exact));
    return { json: { job, result: exact }, stringify, succeeded: true };
  }
  for (const [index, circuit] of counts.entries())
    printCounts(output, circuit, counts.length > 1 ? index : null);
  return { json: { job, counts: counts.map((one) => Object.fromEntries(one)) }, succeeded: true };
}

/** `FAILED: TIMEOUT: ...`. */
export function describeEnd({ status, error }: Pick<QuantumJob, "status" | "error">): string {
  return cleanText([status, ...(error === null ? [] : [error.code, error.detail])].join(": "));
}

interface ReadResult {
  readonly result: unknown;
  /** The same with its numbers as they were written, for `stringify`. */
  readonly exact: unknown;
  readonly stringify: (value: unknown) => string;
}

async function readResult(session: Session, id: string): Promise<ReadResult> {
  let text = "null";
  const quantum = session.connectQuantum({
    maxAnswerBytes: MAX_RESULT_BYTES,
    onText: (seen) => {
      text = seen;
    },
  });
  const result = await quantum.getQuantumJobResult({ params: { id } });
  const { parse, stringify } = createExactJson();
  return { result, exact: parse(text), stringify };
}

function printCounts(output: Output, counts: Counts, index: number | null): void {
  if (index !== null) output.print(`Circuit ${index}`);
  output.printTable(
    ["OUTCOME", "COUNT"],
    counts.slice(0, SHOWN).map(([outcome, count]) => [outcome, String(count)]),
  );
  if (counts.length > SHOWN) output.note(`${counts.length - SHOWN} more outcomes; --json has all.`);
}
