import { Problem } from "@platform/contract/problems";
import { GIGABYTE, formatGigabytes } from "@platform/engine/base/bytes";
import type { RunStatement } from "../../postgres/database.ts";
import { QUOTA_LOCK } from "../../postgres/locks.ts";

/** What one organisation may have at a time. */
export interface BuildQuota {
  /** Builds that are PENDING or RUNNING. */
  readonly builds: number;
  /** Bytes of archives and unpacked projects: of live versions, and of PENDING or RUNNING builds. */
  readonly storedBytes: number;
}

/** The quota unless the settings say otherwise. */
export const DEFAULT_BUILD_QUOTA: BuildQuota = { builds: 20, storedBytes: 20 * GIGABYTE };

const RETRY_AFTER_SECONDS = "30";
/**
 * Until the transaction ends, no other one can count this organisation's builds under this lock. `checkQuota` after it
 * sees what earlier holders have committed (READ COMMITTED: each statement has a snapshot of its own). Two organisations
 * with equal hashes wait for each other, which harms neither.
 */
export async function lockQuota(run: RunStatement, organisationId: string): Promise<void> {
  await run({
    text: `select pg_advisory_xact_lock(${QUOTA_LOCK}, hashtext($1))`,
    values: [organisationId],
  });
}

/**
 * Checks whether the organisation may have one more build. `wanted`: its archive, and the size of archive and unpacked project;
 * null before the archive has been received: the check is then made without it, to refuse early. It binds only under `lockQuota`.
 *
 * @throws Problem QUOTA_EXCEEDED
 */
export async function checkQuota(
  run: RunStatement,
  organisationId: string,
  quota: BuildQuota,
  wanted: { readonly archiveHash: string; readonly storedBytes: number } | null,
): Promise<void> {
  const [row] = await run<{ builds: number; bytes: number }>({
    text: `with own as (select key from service where organisation_id = $1),
      open as (
        select b.archive_hash, b.stored_bytes from build b join own on own.key = b.service_key
        where b.status in ('PENDING', 'RUNNING')
      ),
      -- An archive that several versions or builds name is stored, and counted, once.
      stored as (
        select archive_hash, max(stored_bytes) as bytes from (
          select archive_hash, stored_bytes from open
          union all
          select v.archive_hash, v.stored_bytes from version v join own on own.key = v.service_key where v.retired_at is null
          union all
          select $2::text, $3::bigint where $2::text is not null
        ) as named group by archive_hash
      )
      select (select count(*)::int from open) as builds, (select coalesce(sum(bytes), 0)::float8 from stored) as bytes`,
    values: [organisationId, wanted?.archiveHash ?? null, wanted?.storedBytes ?? 0],
    idempotent: true,
  });
  const { builds, bytes } = row ?? { builds: 0, bytes: 0 };
  if (builds >= quota.builds) {
    throw new Problem(
      "QUOTA_EXCEEDED",
      `Your organisation has ${builds} pending or running builds, and the limit is ${quota.builds}. Wait until one has ended.`,
      { headers: { "retry-after": RETRY_AFTER_SECONDS } },
    );
  }
  if (bytes <= quota.storedBytes) return;
  throw new Problem(
    "QUOTA_EXCEEDED",
    `Your organisation's versions would take ${formatGigabytes(bytes)} GB with this one, and may take ` +
      `${formatGigabytes(quota.storedBytes)} GB; retire versions that are not called any more, or leave data out of the project.`,
  );
}
