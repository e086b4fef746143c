import { isUuid } from "@platform/engine/base/uuid";
import type { Database } from "../postgres/database.ts";
import { describeGrantedVersion, toGrantedVersion } from "./access.ts";
import type { GrantedVersion, StoredVersion } from "./access.ts";
import { parseVersion } from "./base/columns.ts";

/** What a member needs to start an execution as an application of the organisation. */
export interface StartableSubscription {
  readonly id: string;
  readonly applicationId: string;
  readonly serviceKey: string;
  readonly serviceName: string;
  /** Takes no new executions. */
  readonly isPaused: boolean;
  /** Why the provider has ended it: it takes no new executions; null: it has not. */
  readonly endReason: string | null;
  /** Starts in one minute that its plan allows; null: no limit of its own. */
  readonly startsPerMinute: number | null;
  /** The wanted one, also when it is retired; null: the service has no such version. */
  readonly version: GrantedVersion | null;
}

/** The version that is wanted; else the one that the subscription is pinned to; else the highest live one that it follows. */
const IS_WANTED = `case when $3::int is not null then (v.major, v.minor, v.patch) = ($3::int, $4::int, $5::int)
    when b.minor is not null then (v.major, v.minor, v.patch) = (b.major, b.minor, b.patch)
    else v.retired_at is null and (b.major is null or v.major = b.major) end`;

const FIND = `select b.id, b.application_id as "applicationId", s.key as "serviceKey", s.name as "serviceName",
    b.paused_at is not null as "isPaused", b.end_reason as "endReason",
    (select p.starts_per_minute from plan p where p.id = b.plan_id) as "startsPerMinute",
    (select ${describeGrantedVersion("v", "s")} from version v where v.service_key = s.key and ${IS_WANTED}
      order by v.major desc, v.minor desc, v.patch desc limit 1) as version
  from subscription b join application a on a.id = b.application_id join service s on s.key = b.service_key
  where b.id = $2 and a.organisation_id = $1 and a.deleted_at is null and b.cancelled_at is null`;

/** An active subscription of an application of the organisation. `version`: MAJOR.MINOR.PATCH. Null: there is none. */
export async function findStartable(
  database: Pick<Database, "query">,
  { organisationId, id }: { readonly organisationId: string; readonly id: string },
  version: string | undefined,
): Promise<StartableSubscription | null> {
  if (!isUuid(id)) return null;
  const number = version === undefined ? undefined : parseVersion(version);
  const { major = null, minor = null, patch = null } = number ?? {};
  const [row] = await database.query<
    Omit<StartableSubscription, "version"> & { readonly version: StoredVersion | null }
  >({
    text: FIND,
    values: [organisationId, id, major, minor, patch],
    idempotent: true,
  });
  if (row === undefined) return null;
  // What is no version number names no version.
  const found = number === null ? null : row.version;
  return { ...row, version: found && toGrantedVersion(found) };
}
