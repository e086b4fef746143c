import type { ExecutionStatus } from "@platform/contract/execution";
import type { SandboxLevel } from "@platform/contract/sandbox";
import type { Metadata } from "@platform/engine/python/port/runtime";
import type { ExecutionRecord, NewExecution } from "@platform/engine/store/execution-store";
import { fromStoredResources, selectMilliseconds, toStoredResources } from "../base/columns.ts";
import type { StoredResources } from "../base/columns.ts";

/** The columns of `selectRecord`; times in milliseconds since the epoch. */
export interface RecordRow extends StoredResources {
  readonly id: string;
  readonly ownerId: string;
  readonly versionId: string;
  readonly status: ExecutionStatus;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly sandboxLevel: SandboxLevel | null;
  readonly failureCode: string | null;
  readonly failureDetail: string | null;
  readonly failureMetadata: Metadata | null;
  readonly resultDays: number | null;
  readonly logDays: number | null;
}

/** SQL for the columns of a RecordRow; `alias`: of a row of `execution`, or of one that has its columns; `logDays`: for how many days its log is kept. */
export function selectRecord(alias: string, logDays = `${alias}.log_days`): string {
  return `${alias}.id, ${alias}.owner_id as "ownerId", ${alias}.version_id as "versionId", ${alias}.status, ${alias}.cpu_milli, ${alias}.memory_milli,
    ${selectMilliseconds(`${alias}.created_at`)} as "createdAt", ${selectMilliseconds(`${alias}.started_at`)} as "startedAt",
    ${selectMilliseconds(`${alias}.ended_at`)} as "endedAt", ${alias}.sandbox_level as "sandboxLevel", ${alias}.failure_code as "failureCode",
    ${alias}.failure_detail as "failureDetail", ${alias}.failure_metadata as "failureMetadata",
    ${alias}.result_days as "resultDays", ${logDays} as "logDays"`;
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
  const { resultDays: result, logDays: log } = row;
  return result === null && log === null ? record : { ...record, kept: { result, log } };
}

function toFailure({ failureCode, failureDetail, failureMetadata }: RecordRow): ExecutionRecord["failure"] {
  if (failureCode === null) return null;
  const failure = { code: failureCode, detail: failureDetail ?? "" };
  return failureMetadata === null ? failure : { ...failure, metadata: failureMetadata };
}

/** The record of an execution that was just created and is pending. @param createdAt milliseconds since the epoch */
export function toNewRecord(execution: NewExecution, createdAt: number): ExecutionRecord {
  const { id, owner, versionId, kept } = execution;
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
  };
}

/** Replaces U+0000, which user code may return and PostgreSQL's `text` cannot hold. */
export function toText(value: string): string {
  return value.includes("\0") ? value.replaceAll("\0", "\u{FFFD}") : value;
}
