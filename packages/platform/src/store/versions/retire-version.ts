import { isUuid } from "@platform/engine/base/uuid";
import type { Database } from "../../postgres/database.ts";
import { ACCESS_CHANNEL } from "../base/channels.ts";
import { isUniqueViolation, parseVersion } from "../base/columns.ts";

/** Behind the builds of the service that insert a version, which refers to it. */
const LOCK_SERVICE = "select 1 from service where key = $1 and organisation_id = $2 for update";

/**
 * The id of a backend is that of the newest version that is left, if no other service has it; without one the service has none, and others may take the id.
 * The notification makes gateways look up grants again.
 */
const RETIRE = `with v as (
    update version set retired_at = coalesce(retired_at, now())
    where service_key = $1 and major = $3 and minor = $4 and patch = $5
      and exists (select 1 from service s where s.key = $1 and s.organisation_id = $2)
    returning id, service_key
  ), named as (
    update service s set backend_id = free.id from v left join lateral (
      select n.backend ->> 'id' as id from version n where n.service_key = v.service_key and n.retired_at is null and n.id <> v.id
      order by n.major desc, n.minor desc, n.patch desc limit 1
    ) newest on true left join lateral (
      select newest.id where not exists (
        select 1 from service o where o.organisation_id = $2 and o.backend_id = newest.id and o.key <> v.service_key
      )
    ) free on true
    where s.key = v.service_key and s.backend_id is distinct from free.id
  ) select v.id from v cross join lateral pg_notify('${ACCESS_CHANNEL}', 'service:' || v.service_key)`;

/** Retires a version of a service of the organisation, if there is one. Repeating it changes nothing. `version`: MAJOR.MINOR.PATCH. */
export async function retireVersion(
  database: Pick<Database, "transaction">,
  organisationId: string,
  { serviceKey, version }: { readonly serviceKey: string; readonly version: string },
): Promise<void> {
  const number = parseVersion(version);
  if (number === null || !isUuid(serviceKey)) return;
  const retire = async (): Promise<void> =>
    await database.transaction(async (run) => {
      await run({ text: LOCK_SERVICE, values: [serviceKey, organisationId] });
      await run({
        text: RETIRE,
        values: [serviceKey, organisationId, number.major, number.minor, number.patch],
        audited: ["version.retire"],
      });
    });
  try {
    await retire();
  } catch (error) {
    if (!isUniqueViolation(error, "service_backend")) throw error;
    // A build of another service took the id at the same time, and is seen by now.
    await retire();
  }
}
