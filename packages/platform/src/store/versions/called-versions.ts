import { readStoredSchema } from "@platform/engine/input-schema/bounds";
import type { Database } from "../../postgres/database.ts";
import type { VersionNumber } from "../base/columns.ts";

/** A version that subscriptions call which a new version would move to itself. */
export interface CalledVersion {
  /** `MAJOR.MINOR.PATCH`. */
  readonly version: string;
  readonly major: number;
  readonly inputSchema: Record<string, unknown> | null;
  /** How many subscriptions call it. */
  readonly count: number;
}

/**
 * What subscriptions call whose endpoint URL would name the new version `$3.$4.$5`: those that are not pinned, follow its major number
 * or the highest of all, and whose URL names a lower version now. What they call is what they started last; of one that
 * has started nothing that is kept, what its URL names.
 *
 * One look into the index for each status, since `execution_owner_status` has the order by id only within one.
 */
const CALLED = `select concat_ws('.', v.major, v.minor, v.patch) as version, v.major, v.input_schema as "inputSchema", count(*)::int
  from service s join subscription b on b.service_key = s.key
  left join lateral (select n.* from version n
    where n.service_key = s.key and n.retired_at is null and (b.major is null or n.major = b.major)
    order by n.major desc, n.minor desc, n.patch desc limit 1) named on true
  left join lateral (select x.version_id from (values ('PENDING'), ('RUNNING'), ('SUCCEEDED'), ('FAILED'), ('UNKNOWN')) known (status)
    cross join lateral (select e.id, e.version_id from execution e where e.owner_id = b.id and e.status = known.status
      order by e.id desc limit 1) x
    order by x.id desc limit 1) called on true
  join version v on v.id = coalesce(called.version_id, named.id) and v.service_key = s.key
  where s.organisation_id = $1 and s.key = $2 and b.cancelled_at is null and b.ended_at is null and b.minor is null and (b.major is null or b.major = $3)
    and (named.id is null or (named.major, named.minor, named.patch) < ($3, $4, $5))
  group by v.id order by v.major desc, v.minor desc, v.patch desc`;

/** The versions that subscriptions call which a new version of the service would move to itself, the highest first. */
export async function listCalledVersions(
  database: Database,
  { organisationId, serviceKey }: { readonly organisationId: string; readonly serviceKey: string },
  { major, minor, patch }: VersionNumber,
): Promise<readonly CalledVersion[]> {
  const rows = await database.query<CalledVersion>({
    text: CALLED,
    values: [organisationId, serviceKey, major, minor, patch],
    idempotent: true,
  });
  return rows.map((row) => ({ ...row, inputSchema: readStoredSchema(row.inputSchema) }));
}
