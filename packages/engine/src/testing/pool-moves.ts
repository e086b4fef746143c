import { fail, notStarted } from "../python/child/answers.ts";
import type { BootFailure } from "../python/pool/start-failure.ts";

/** How a boot ends, by names for the moves. */
export const FAILURES = {
  fault: { outcome: fail("STARTUP_ERROR", "no licence"), lines: [] },
  refusal: { outcome: notStarted("worker", "no sandbox"), lines: [] },
  none: null,
} as const satisfies Record<string, BootFailure | null>;

/** What happens to a pool. The numbers pick an execution or a child, or are milliseconds. */
export type PoolMove =
  | readonly ["submit" | "answered" | "stuck" | "trim" | "prepare" | "retire" | "close"]
  | readonly ["withdraw" | "connect" | "connectFailed" | "tick", number]
  | readonly ["closed", keyof typeof FAILURES]
  | ReportMove;

/** What a zygote says: it may be anything, at any time; and that no control group is free for a child. */
export type ReportMove =
  | readonly ["ready", "fork" | "spawn"]
  | readonly ["unsafe"]
  | readonly ["exit" | "gone" | "refused" | "full", number];

const REPORTS: ReadonlySet<string> = new Set(["ready", "unsafe", "exit", "gone", "refused", "full"]);

/** Whether it is a report of the zygote. */
export function isReport(move: PoolMove): move is ReportMove {
  return REPORTS.has(move[0]);
}
