import type { ScheduleRun } from "@platform/contract/platform-api/schedules";
import { selectMilliseconds } from "../base/columns.ts";

/** An occurrence, and what became of it; times in milliseconds since the epoch. */
export interface RunRecord extends Pick<ScheduleRun, "id" | "trigger" | "status" | "code" | "detail"> {
  readonly dueAt: number;
  /** Null unless it was started. */
  readonly executionId: string | null;
}

/** SQL: the columns of a run `r`. */
export const RUN_COLUMNS = `r.id, r.trigger, r.status, r.code, r.detail, ${selectMilliseconds("r.due_at")} as "dueAt",
  case when r.status = 'STARTED' then r.execution_id end as "executionId"`;

/** SQL: the last run of the schedule `s`; null: there is none. */
export const LAST_RUN = `(select row_to_json(run) from (
    select ${RUN_COLUMNS} from schedule_run r where r.schedule_id = s.id order by r.id desc limit 1
  ) run)`;
