import type { Database } from "../../postgres/database.ts";
import { selectMilliseconds } from "../base/columns.ts";

/** Builds that have not ended. */
export interface BuildMeasure {
  readonly status: "PENDING" | "RUNNING";
  readonly count: number;
  /** When the oldest was requested; milliseconds since the epoch. */
  readonly oldestAt: number;
}

/** Builds that have not ended, by status; a status without any is left out. */
export async function measureBuilds(database: Database): Promise<readonly BuildMeasure[]> {
  return database.query<BuildMeasure>({
    text: `select status, count(*)::int as count, min(${selectMilliseconds("created_at")}) as "oldestAt"
      from build where status in ('PENDING', 'RUNNING') group by status`,
    idempotent: true,
  });
}
