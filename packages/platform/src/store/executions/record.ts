import type { ExecutionStatus } from "@platform/contract/execution";
import type { SandboxLevel } from "@platform/contract/sandbox";
import type { Metadata } from "@platform/engine/python/port/runtime";
import type { ExecutionRecord, NewExecution } from "@platform/engine/store/execution-store";
import type { DelayedState, HeldReason } from "@platform/engine/store/held";
import { findStartBy } from "@platform/engine/store/start-deadline";
import { fromStoredResources, selectMilliseconds, toStoredResources } from "../base/columns.ts";
import type { StoredResources } from "../base/columns.ts";
import { selectAttempts } from "./attempts.ts";
import type { AttemptsRow } from "./attempts.ts";
import { describePreparing } from "./preparing.ts";
import type { ProgressRow } from "./progress.ts";

/** The columns of `selectRecord`; times in milliseconds since the epoch. */
export interface RecordRow extends StoredResources {
  readonly id: string;
  readonly ownerId: string;
  readonly versionId: string;
  readonly status: ExecutionStatus;
  readonly createdAt: number;
  readonly startBy: number | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly sandboxLevel: SandboxLevel | null;
  readonly failureCode: string | null;
  readonly failureDetail: string | null;
  readonly failureMetadata: Metadata | null;
  readonly resultDays: number | null;
  readonly logDays: number | null;
  readonly attempts: AttemptsRow;
  /** As of `selectProgress`; missing: nothing can have been reported. */
  readonly progress?: ProgressRow;
}

/** SQL of single columns of a RecordRow, where they are not read as usual. */
export interface RecordParts {
  /** For how many days its log is kept. */
  readonly logDays?: string;
  readonly attempts?: string;
  readonly startBy?: string;
}

/** SQL for the columns of a RecordRow; `alias`: of a row of `execution`, or of one that has its columns. */
export function selectRecord(
  alias: string,
  {
    logDays = `${alias}.log_days`,
    attempts = selectAttempts(alias),
    startBy = selectMilliseconds(`${alias}.start_by`),
  }: RecordParts = {},
): string {
  return `${alias}.id, ${alias}.owner_id as "ownerId", ${alias}.version_id as "versionId", ${alias}.status, ${alias}.cpu_milli, ${alias}.memory_milli,
    ${selectMilliseconds(`${alias}.created_at`)} as "createdAt", ${selectMilliseconds(`${alias}.started_at`)} as "startedAt",
    ${startBy} as "startBy", ${selectMilliseconds(`${alias}.ended_at`)} as "endedAt", ${alias}.sandbox_level as "sandboxLevel", ${alias}.failure_code as "failureCode",
    ${alias}.failure_detail as "failureDetail", ${alias}.failure_metadata as "failureMetadata",
    ${alias}.result_days as "resultDays", ${logDays} as "logDays", ${attempts}`;
}

/** The columns of `selectLive`; null: it has none, since it is final. */
export interface LiveRow {
  readonly priority: number | null;
  readonly rank: number | null;
  readonly isPausing: boolean | null;
  readonly retryAt: number | null;
  readonly held: HeldReason | null;
  /** When it is to begin; milliseconds since the epoch. */
  readonly startAt: number | null;
  /** The service whose limits it is subject to. */
  readonly limitKey: string | null;
  readonly leaseUntil: number | null;
  readonly isPreparing: boolean | null;
}

/** `startBy` of what is kept for longer: it has ended, so none holds. */
export const NO_START_BY = "null::float8";

/** SQL for the columns of a LiveRow; `alias`: of a row of `execution`. */
export function selectLive(alias: string): string {
  const pending = `${alias}.status = 'PENDING'`;
  return `case when ${pending} then ${alias}.priority end as priority, case when ${pending} then ${alias}.rank::float8 end as rank,
    case when ${pending} then coalesce(${alias}.not_before > now(), false) end as "isPausing",
    case when ${pending} and ${alias}.retried > 0 and ${alias}.setbacks = 0 and ${alias}.not_before > now()
      then ${selectMilliseconds(`${alias}.not_before`)} end as "retryAt",
    case when ${pending} then ${alias}.held end as held, case when ${pending} then ${selectMilliseconds(`${alias}.start_at`)} end as "startAt",
    case when ${pending} then ${alias}.limit_key end as "limitKey",
    ${selectMilliseconds(`${alias}.lease_until`)} as "leaseUntil", case when ${alias}.lease_until is not null then ${describePreparing(alias)} end as "isPreparing"`;
}

/** SQL: the columns of a LiveRow of what is final. */
export const NOT_LIVE = `null::smallint as priority, null::float8 as rank, null::boolean as "isPausing", null::float8 as "retryAt", null::text as held,
    null::float8 as "startAt", null::uuid as "limitKey", null::float8 as "leaseUntil",
    null::boolean as "isPreparing"`;

/** The record that a row stands for, with what is true of it at this moment. */
export function toLiveRecord(row: RecordRow & LiveRow): ExecutionRecord {
  const record = toRecord(row);
  const { priority, rank, leaseUntil, retryAt, held, startAt, limitKey } = row;
  if (held !== null) return { ...record, live: describeHeld(held, startAt, limitKey) };
  if (leaseUntil !== null) return { ...record, live: { leaseUntil, isPreparing: row.isPreparing === true } };
  if (priority === null || rank === null) return record;
  const live = { priority, rank, isPausing: row.isPausing === true };
  return { ...record, live: retryAt === null ? live : { ...live, retryAt } };
}

function describeHeld(held: HeldReason, startAt: number | null, limitKey: string | null): DelayedState {
  return { held, startAt, ...(limitKey === null ? {} : { limitKey }) };
}

/** The record that a row stands for. */
export function toRecord(row: RecordRow): ExecutionRecord {
  const { id, ownerId, versionId, status, createdAt, startedAt, endedAt, sandboxLevel } = row;
  const resources = fromStoredResources(row);
  const failure = toFailure(row);
  const record = {
    id,
    ownerId,
    versionId,
    resources,
    status,
    createdAt,
    startedAt,
    endedAt,
    sandboxLevel,
    failure,
  };
  const { resultDays: result, logDays: log, progress, attempts, startBy } = row;
  return {
    ...record,
    ...(result === null && log === null ? {} : { kept: { result, log } }),
    ...(progress === null || progress === undefined ? {} : { progress }),
    ...(attempts === null ? {} : { attempts }),
    ...(startBy === null ? {} : { startBy }),
  };
}

function toFailure({ failureCode, failureDetail, failureMetadata }: RecordRow): ExecutionRecord["failure"] {
  if (failureCode === null) return null;
  const failure = { code: failureCode, detail: failureDetail ?? "" };
  return failureMetadata === null ? failure : { ...failure, metadata: failureMetadata };
}

/** The record of an execution that was just created and is pending. @param createdAt milliseconds since the epoch; `held`: null, it is in the queue */
export function toNewRecord(
  execution: NewExecution,
  createdAt: number,
  held: HeldReason | null,
): ExecutionRecord {
  const { id, owner, versionId, kept, startAt = null, limitKey = null } = execution;
  const startBy = findStartBy(execution, createdAt);
  return {
    id,
    ownerId: owner.id,
    versionId,
    resources: fromStoredResources(toStoredResources(execution.resources)),
    status: "PENDING",
    createdAt,
    startedAt: null,
    endedAt: null,
    sandboxLevel: null,
    failure: null,
    ...(kept === undefined ? {} : { kept }),
    ...(startBy === null ? {} : { startBy }),
    ...(held === null ? {} : { live: describeHeld(held, startAt, limitKey) }),
  };
}

/** Replaces U+0000, which user code may return and PostgreSQL's `text` cannot hold. */
export function toText(value: string): string {
  return value.includes("\0") ? value.replaceAll("\0", "\u{FFFD}") : value;
}
