import { formatTimestamp } from "@platform/contract/execution";
import { SERIES_UNITS } from "@platform/contract/platform-api/operator-figures";
import type {
  InstanceSeries,
  InstanceStorage,
  OPERATOR_FIGURES_API,
  SeriesName,
} from "@platform/contract/platform-api/operator-figures";
import { createCache } from "@platform/engine/base/cache";
import { HOUR, MINUTE, SECOND } from "@platform/engine/base/time";
import { readTime } from "@platform/engine/http/paging";
import { refuseParameter } from "@platform/engine/http/query";
import type { OperationHandlers } from "@platform/engine/http/types";
import type { Stores } from "../store/stores.ts";
import type { PlatformCaller } from "./caller.ts";

type SeriesStep = Awaited<ReturnType<Stores["figures"]["readSeries"]>>[number];

const MOST_STEPS = 1_500;
const STORAGE_TTL_MS = MINUTE;

/** What the handlers work with. */
export interface OperatorFiguresDeps extends Pick<Stores, "figures"> {
  readonly retentionDays: number;
  readonly logRetentionDays: number;
}

/** Handlers of figures. `now`: milliseconds since the epoch. */
export function createOperatorFigureHandlers(
  deps: OperatorFiguresDeps,
  now: () => number = Date.now,
): OperationHandlers<typeof OPERATOR_FIGURES_API, PlatformCaller> {
  const storage = createCache<InstanceStorage>({ ttlMs: STORAGE_TTL_MS, maxEntries: 1, now });
  return {
    getSeries: async ({ query }) => {
      const step = Number(query.step ?? "60");
      const to = Math.floor((readTime("to", query.to) ?? now()) / SECOND);
      const from = Math.floor((readTime("from", query.from) ?? to * SECOND - HOUR) / SECOND);
      if (from >= to) throw refuseParameter("from", "must be before the end");
      const range = { from: Math.floor(from / step) * step, to: Math.ceil(to / step) * step, step };
      if ((range.to - range.from) / step > MOST_STEPS)
        throw refuseParameter("from", `must be at most ${MOST_STEPS} steps before the end`);
      return { status: 200, body: toSeriesBody(range, await deps.figures.readSeries(range)) };
    },
    getStorage: async () => ({
      status: 200,
      body: await storage.get("", async () => describeStorage(deps, now())),
    }),
  };
}

function toSeriesBody(
  { from, to, step }: { readonly from: number; readonly to: number; readonly step: number },
  steps: readonly SeriesStep[],
): InstanceSeries {
  const names = Object.keys(SERIES_UNITS) as SeriesName[];
  return {
    step,
    from: formatTimestamp(from * SECOND),
    to: formatTimestamp(to * SECOND),
    series: names.map((name) => ({
      name,
      unit: SERIES_UNITS[name],
      points: steps.map((one) => [one.at, one[name]]),
    })),
  };
}

async function describeStorage(deps: OperatorFiguresDeps, at: number): Promise<InstanceStorage> {
  const { retentionDays, logRetentionDays, figures } = deps;
  const results = `As results: ${retentionDays} days, longer where a service says so.`;
  const retention: Readonly<Record<string, string>> = {
    archives: "As long as their version; of failed builds as results.",
    "pool-files": "Until they are deleted; then a day.",
    results,
    uploads: "A day without anything that arrives.",
    objects: "A day after nothing needs them.",
    "database-executions": `Results ${retentionDays} days, logs ${logRetentionDays}, longer where a service says so.`,
    "database-feed": "Seven days.",
    "database-audit": "They stay.",
    "database-usage": "They stay.",
    "database-other": "See the guide's page of limits.",
  };
  const kinds = await figures.measureStorage();
  return {
    measuredAt: formatTimestamp(at),
    kinds: kinds.map((kind) => ({ ...kind, retention: retention[kind.kind] ?? "" })),
  };
}
