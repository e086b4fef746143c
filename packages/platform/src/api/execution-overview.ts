import { EXECUTION_STATUSES } from "@platform/contract/execution";
import type {
  CountDimension,
  EXECUTION_OVERVIEW_API,
  ExecutionCounts,
} from "@platform/contract/platform-api/execution-overview";
import type { Executions } from "@platform/engine/executions/executions";
import { DAY } from "@platform/engine/base/time";
import { refuseParameter } from "@platform/engine/http/query";
import type { OperationHandlers } from "@platform/engine/http/types";
import type { HistoryCounts } from "../store/history/count.ts";
import type { HistoryStore } from "../store/history/history.ts";
import type { HistoryFilter } from "../store/history/scope.ts";
import type { PlatformCaller } from "./caller.ts";
import { readFilter, requireFound, toAsker } from "./executions.ts";
import { explainWaiting } from "./explain-waiting.ts";
import type { FairGate } from "../base/fair-gate.ts";

/** What the handlers work with. */
interface OverviewDeps {
  readonly history: HistoryStore;
  readonly executions: Executions;
  readonly searches: FairGate;
}

/** Handlers of numbers of executions, and of why one waits. */
export function createOverviewHandlers({
  history,
  executions,
  searches,
}: OverviewDeps): Omit<OperationHandlers<typeof EXECUTION_OVERVIEW_API, PlatformCaller>, "followExecution"> {
  return {
    countExecutions: async ({ caller, query: { by = "status", ...query } }) => {
      const filter = boundPeriod(readFilter(query), by, Date.now());
      const counts = await searches.admit(caller, () => history.count(toAsker(caller), { ...filter, by }));
      return { status: 200, body: toCounts(counts, by) };
    },
    explainExecution: async ({ caller, params }) => {
      const found = await requireFound(history, caller, params.id);
      const record = await executions.state(found.id, found.ownerId);
      const { status, isPreparing } = found;
      const place = status === "PENDING" ? await history.findPlace(found.id) : null;
      return { status: 200, body: explainWaiting({ status, isPreparing, needs: record.resources, place }) };
    },
  };
}

/** How many days are counted by default, and at most: so that the answer is not too long. */
const PERIODS: Readonly<Partial<Record<CountDimension, { readonly days: number; readonly most: number }>>> = {
  hour: { days: 1, most: 31 },
  day: { days: 30, most: 366 },
};

/** @throws Problem INVALID_INPUT */
function boundPeriod(filter: HistoryFilter, by: CountDimension, now: number): HistoryFilter {
  const period = PERIODS[by];
  if (period === undefined) return filter;
  const end = Math.min(filter.createdBefore ?? now, now);
  const { createdAfter = end - period.days * DAY } = filter;
  if (end - createdAfter > period.most * DAY)
    throw refuseParameter("createdAfter", `must be at most ${period.most} days before the end, by ${by}`);
  return { ...filter, createdAfter };
}

const MOST_CODES = 200;

function toCounts({ items, isComplete }: HistoryCounts, by: CountDimension): ExecutionCounts {
  const place = (status: (typeof items)[number]["status"]) => EXECUTION_STATUSES.indexOf(status);
  const sorted = items.toSorted(
    (a, b) =>
      (by === "code" ? b.count - a.count : 0) ||
      (by === "status" || a.key === b.key ? place(a.status) - place(b.status) : a.key < b.key ? 1 : -1),
  );
  const listed = by === "code" ? sorted.slice(0, MOST_CODES) : sorted;
  return {
    items: [...listed],
    total: items.reduce((sum, { count }) => sum + count, 0),
    isComplete: isComplete && listed.length === sorted.length,
  };
}
