import type { ClaimKey } from "@platform/engine/store/execution-store";
import type { Database } from "../../postgres/database.ts";
import { ACCESS_CHANNEL } from "../base/channels.ts";
import { isUniqueViolation } from "../base/columns.ts";
import { VERSION_COLUMNS, toVersionValues } from "../versions/versions.ts";
import type { NewVersion } from "../versions/versions.ts";

/** The fence of every write of a builder: only the holder of this attempt, only while it runs. $1 to $3: the claim. */
export const IS_HELD = "id = $1 and attempt = $2 and worker_id = $3 and status = 'RUNNING'";

/**
 * One transaction: a SUCCEEDED build always has its version. There is no "on conflict": when the version exists, the whole
 * statement fails, and the build, still RUNNING, can be failed with the reason. The notification makes gateways look up
 * grants again.
 */
export async function succeed(database: Database, claim: ClaimKey, version: NewVersion): Promise<boolean> {
  try {
    const rows = await database.query({
      text: `with ended as (
          update build set status = 'SUCCEEDED', lease_until = null, ended_at = now() where ${IS_HELD} returning stored_bytes
        ), v as (
          insert into version (stored_bytes, ${VERSION_COLUMNS})
          select ended.stored_bytes, $4::uuid, $5::uuid, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15::jsonb, $16::jsonb, $17::json, $18::json, $19, $20, $21, $22, $23::json, $24::jsonb from ended
          returning service_key, major, minor, patch
        ), named as (
          update service s set backend_id = $24::jsonb ->> 'id' from v
          where s.key = v.service_key and s.backend_id is distinct from $24::jsonb ->> 'id'
            -- A version of an older major decides nothing: the newest live one runs the jobs.
            and not exists (
              select 1 from version n where n.service_key = s.key and n.retired_at is null and (n.major, n.minor, n.patch) > (v.major, v.minor, v.patch)
            )
        ) select v.service_key from v cross join lateral pg_notify('${ACCESS_CHANNEL}', 'service:' || v.service_key)`,
      values: [claim.id, claim.attempt, claim.workerId, ...toVersionValues(version)],
    });
    return rows.length > 0;
  } catch (error) {
    if (isUniqueViolation(error, "service_backend"))
      return failBuild(
        database,
        claim,
        "INVALID_PROJECT",
        `platform.json: another service of the organisation is the backend ${version.backend?.id ?? ""}; choose another backend.id.`,
      );
    if (!isUniqueViolation(error, "version_number_unique")) throw error;
    return failBuild(
      database,
      claim,
      "CONFLICT",
      `Version ${version.version} was published by another build in the meantime.`,
    );
  }
}

/** Writes why there is no version. False: the claim is no longer held. */
export async function failBuild(
  database: Database,
  claim: ClaimKey,
  code: string,
  detail: string,
): Promise<boolean> {
  const rows = await database.query({
    text: `update build set status = 'FAILED', lease_until = null, ended_at = now(), failure_code = $4, failure_detail = $5
      where ${IS_HELD} returning id`,
    values: [claim.id, claim.attempt, claim.workerId, code, detail.replaceAll("\0", "\u{FFFD}")],
  });
  return rows.length > 0;
}
