import { MICROSECONDS } from "./hold.ts";
import type { QuotaRow } from "./hold.ts";

/** What the plan of a subscription limits, and how much of it is used. */
export interface SubscriptionLimits {
  /** Null: there is no cap. */
  readonly quota: {
    readonly unit: "execution" | "cpu-second";
    /** Units of this month; of CPU-seconds to a millionth. */
    readonly used: number;
    readonly limit: number;
    /** Milliseconds since the epoch. */
    readonly resetsAt: number;
  } | null;
  /** Executions that wait or run; null: there is no limit. */
  readonly concurrency: { readonly used: number; readonly limit: number } | null;
}

/** @param row null: the plan has no limit that is counted */
export function toLimits(row: QuotaRow | null): SubscriptionLimits {
  if (row === null) return { quota: null, concurrency: null };
  const { concurrent, unended } = row;
  return {
    quota: describeUsed(row),
    concurrency: concurrent === null ? null : { used: unended, limit: concurrent },
  };
}

function describeUsed({ cap, used, cpuCap, cpuUsed, renewsAt }: QuotaRow): SubscriptionLimits["quota"] {
  if (cap !== null) return { unit: "execution", used, limit: cap, resetsAt: renewsAt };
  if (cpuCap === null) return null;
  const [usedSeconds, limit] = [cpuUsed / MICROSECONDS, cpuCap / MICROSECONDS];
  return { unit: "cpu-second", used: usedSeconds, limit, resetsAt: renewsAt };
}
