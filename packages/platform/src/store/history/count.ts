import type { ExecutionStatus } from "@platform/contract/execution";
import { MOST_COUNTED } from "@platform/contract/platform-api/execution-overview";
import type { CountDimension } from "@platform/contract/platform-api/execution-overview";
import type { Database } from "../../postgres/database.ts";
import { describeMatching } from "./list.ts";
import type { Asker, HistoryFilter } from "./scope.ts";
import { SEEN, STEP_COLUMNS, walk } from "./walk.ts";
import type { StepRow } from "./walk.ts";

/** Executions of one key in one state. */
interface HistoryCount {
  readonly key: string;
  readonly status: ExecutionStatus;
  readonly count: number;
}

/** Numbers, in no order, and whether everything was looked at. */
export interface HistoryCounts {
  readonly items: readonly HistoryCount[];
  readonly isComplete: boolean;
}

/** A step groups its rows in memory. */
const COUNT_LIMITS = { mostRows: MOST_COUNTED, stepRows: 25_000, minDepth: 25 } as const;

const at = (format: string) => `to_char(e.created_at at time zone 'UTC', '${format}')`;

const KEYS: Readonly<Record<CountDimension, string>> = {
  status: "e.status",
  hour: at('YYYY-MM-DD HH24:"00:00"'),
  day: at("YYYY-MM-DD"),
  code: "coalesce(e.failure_code, '')",
};

const describeCount = (by: CountDimension, rows: string) => `with ${SEEN}
  select ${STEP_COLUMNS}, m.* from (select 1) one left join lateral (
    select ${KEYS[by]} as key, e.status, count(*)::int as count from ${rows} group by 1, 2
  ) m on true`;

type Row = StepRow & (HistoryCount | { readonly key: null });

/** Counts what matches, the newest first, until as many were looked at as one request may. */
export async function countHistory(
  database: Pick<Database, "query">,
  asker: Asker,
  { by, ...filter }: HistoryFilter & { readonly by: CountDimension },
): Promise<HistoryCounts> {
  const sums = new Map<string, HistoryCount>();
  const { isSearch, rows: matching, values: match } = describeMatching(asker, filter);
  const { goOn } = await walk({
    database,
    asker,
    filter,
    limits: COUNT_LIMITS,
    read: async ({ values }) => {
      const rows = await database.query<Row>({
        name: `history-count-${by}${isSearch ? "-search" : ""}`,
        text: describeCount(by, matching),
        values: [...values, ...match],
        idempotent: true,
      });
      for (const row of rows) if (row.key !== null) add(sums, row);
      const [{ looked, edge } = { looked: 0, edge: null }] = rows;
      return { looked, edge, isEnough: false };
    },
  });
  return { items: [...sums.values()], isComplete: goOn === null };
}

function add(sums: Map<string, HistoryCount>, { key, status, count }: HistoryCount): void {
  const name = JSON.stringify([key, status]);
  sums.set(name, { key, status, count: count + (sums.get(name)?.count ?? 0) });
}
