import type { ExecutionStatus } from "@platform/contract/execution";
import type { ExecutionKind } from "@platform/contract/platform-api/executions";
import { EXECUTION_KIND_NAMES } from "@platform/contract/platform-api/executions";
import { EXECUTION_STATUSES } from "@platform/contract/execution";

/*
 * The executions that concern an organisation are those of many owners: its own id (jobs), its applications' subscriptions, and the
 * subscriptions to its services. Each statement finds these owners itself, beginning with the organisation: no list of owners comes from
 * elsewhere, so that none can name what is another's.
 */

/** Which executions are wanted; what is absent decides nothing. Times in milliseconds since the epoch. */
export interface HistoryFilter {
  readonly kind?: ExecutionKind | undefined;
  /** In place of one kind. */
  readonly kinds?: readonly ExecutionKind[] | undefined;
  readonly status?: readonly ExecutionStatus[] | undefined;
  readonly serviceKey?: string | undefined;
  /** MAJOR.MINOR.PATCH. */
  readonly version?: string | undefined;
  readonly applicationId?: string | undefined;
  readonly code?: string | undefined;
  readonly createdAfter?: number | undefined;
  readonly createdBefore?: number | undefined;
  readonly minRanMs?: number | undefined;
  readonly q?: string | undefined;
}

/** Who asks. */
export interface Asker {
  readonly organisationId: string;
  /** Whether they may know the names of the applications of subscribers. */
  readonly areSubscribersShown: boolean;
}

/**
 * CTE `owner`: whose executions are looked at, each once. Parameters: $1 the organisation, $2 the kinds, $3 the service (null: any), $4 the
 * application (null: any).
 */
export const OWNERS = `owner as materialized (
    select $1::uuid as id where 'job' = any ($2::text[]) and $4::uuid is null
    union all
    select b.id from application a join subscription b on b.application_id = a.id
    where a.organisation_id = $1::uuid and 'outgoing' = any ($2::text[])
      and ($3::uuid is null or b.service_key = $3) and ($4::uuid is null or a.id = $4)
    union all
    select b.id from service s join subscription b on b.service_key = s.key join application a on a.id = b.application_id
    where s.organisation_id = $1::uuid and 'incoming' = any ($2::text[])
      and not (a.organisation_id = $1::uuid and 'outgoing' = any ($2::text[]))
      and ($3::uuid is null or s.key = $3) and ($4::uuid is null or a.id = $4)
  )`;

/** The values of OWNERS. */
export function toOwnerValues({ organisationId }: Asker, filter: HistoryFilter): readonly unknown[] {
  const { kind, serviceKey = null, applicationId = null } = filter;
  const { kinds = kind === undefined ? EXECUTION_KIND_NAMES : [kind] } = filter;
  return [organisationId, kinds, serviceKey, applicationId];
}

/** States in which an execution can have a code. */
const WITH_CODE: readonly ExecutionStatus[] = ["FAILED", "UNKNOWN"];

/** The states that executions that match can be in. */
export function listStatuses({
  status = EXECUTION_STATUSES,
  code,
}: HistoryFilter): readonly ExecutionStatus[] {
  return code === undefined ? [...new Set(status)] : WITH_CODE.filter((one) => status.includes(one));
}

/** SQL: how the execution `e` concerns the organisation $1; `a`: the application that has started it, all null for a job. */
export const KIND = `case when e.owner_id = $1::uuid then 'job' when a.organisation_id = $1::uuid then 'outgoing' else 'incoming' end`;

/** SQL: what names of an execution are joined from, after `e`. */
export const NAMES = `join version v on v.id = e.version_id join service s on s.key = v.service_key
    left join subscription b on b.id = e.owner_id left join application a on a.id = b.application_id
    left join organisation o on o.id = a.organisation_id`;

/** SQL: whether `e`, with NAMES, concerns the organisation $1. */
export const IS_OF_ORGANISATION = `(e.owner_id = $1::uuid or a.organisation_id = $1::uuid
    or (b.service_key = s.key and s.organisation_id = $1::uuid))`;
