import { CALLER_DAYS } from "@platform/contract/platform-api/subscriptions";
import { isUuid } from "@platform/engine/base/uuid";
import type { Database } from "../../postgres/database.ts";
import { FOLLOWED, parseVersion } from "../base/columns.ts";
import { cutPage, decodeCursor } from "../base/page.ts";
import type { Page, PageRequest } from "../base/page.ts";

/** An active subscription that calls a version, as the provider of the service sees it. */
export interface VersionCallerRecord {
  readonly id: string;
  readonly organisationName: string;
  readonly applicationName: string;
  readonly isPaused: boolean;
  /** MAJOR.MINOR.PATCH, or the MAJOR that it follows; null: the highest of all. */
  readonly version: string | null;
  /** Of the version, that have ended. */
  readonly executions: number;
  /** Of the last one, YYYY-MM-DD; null: there was none. */
  readonly lastDay: string | null;
}

/** A version of a service of the organisation. */
interface Called {
  readonly organisationId: string;
  readonly serviceKey: string;
  readonly version: string;
}

/** From usage, which is kept by day and version, and never from executions: who calls is known by the index `usage_day_of_version`. */
const CALLERS = `with called as (
    select v.id, v.service_key, v.major, v.minor, v.patch from version v join service s on s.key = v.service_key
    where v.service_key = $1 and s.organisation_id = $2 and v.major = $3 and v.minor = $4 and v.patch = $5
  ), used as (
    select u.owner_id, sum(u.succeeded + u.failed + u.unknown)::float8 as executions, max(u.day)::text as last_day
    from called join lateral (
      select owner_id, day, succeeded, failed, unknown from usage_day
      where version_id = called.id and day > (now() at time zone 'UTC')::date - ${CALLER_DAYS}
      union all
      select owner_id, day, succeeded, failed, unknown from usage_entry
      where version_id = called.id and day > (now() at time zone 'UTC')::date - ${CALLER_DAYS}
    ) u on true
    group by u.owner_id
  )
  select b.id, o.name as "organisationName", a.name as "applicationName", b.paused_at is not null as "isPaused",
    ${FOLLOWED} as version, coalesce(used.executions, 0) as executions, used.last_day as "lastDay"
  from called join subscription b on b.service_key = called.service_key
  join application a on a.id = b.application_id join organisation o on o.id = a.organisation_id
  left join used on used.owner_id = b.id
  where b.cancelled_at is null and b.ended_at is null and ($6::uuid is null or b.id < $6)
    and (used.owner_id is not null or (b.major, b.minor, b.patch) = (called.major, called.minor, called.patch))
  order by b.id desc limit $7`;

/** Who calls a version, the newest subscription first; empty where the organisation has no such version. */
export async function listVersionCallers(
  database: Database,
  { organisationId, serviceKey, version }: Called,
  page: PageRequest,
): Promise<Page<VersionCallerRecord>> {
  const [before] = decodeCursor(page.cursor, [isUuid]) ?? [null];
  const number = parseVersion(version);
  if (number === null || !isUuid(serviceKey)) return { items: [], nextCursor: null };
  const { major, minor, patch } = number;
  const rows = await database.query<VersionCallerRecord>({
    text: CALLERS,
    values: [serviceKey, organisationId, major, minor, patch, before, page.limit + 1],
    idempotent: true,
  });
  return cutPage(rows, page.limit, (row) => [row.id]);
}
