import { Problem } from "@platform/contract/problems";
import { formatGigabytes } from "@platform/engine/base/bytes";
import type { RunStatement } from "../../postgres/database.ts";
import { POOL_LOCK } from "../../postgres/locks.ts";

/** What is to be stored. */
interface NewBytes {
  readonly bytes: number;
  /** Of the organisation. */
  readonly quotaBytes: number;
  /** Whether the organisation itself asks: others are not told how much it has. */
  readonly isOwn: boolean;
}

/**
 * Checks whether the organisation may store so many bytes more, beside its files and what open uploads to its pools are to become, and
 * lets no other transaction of it do so before this one commits. Equal content counts for each file: otherwise it would tell what others
 * have.
 *
 * @throws Problem QUOTA_EXCEEDED
 */
export async function requireStorage(
  run: RunStatement,
  organisationId: string,
  { bytes, quotaBytes, isOwn }: NewBytes,
): Promise<void> {
  await run({
    text: `select pg_advisory_xact_lock(${POOL_LOCK}, hashtext($1))`,
    values: [organisationId],
  });
  const used = await readStoredBytes(run, organisationId);
  if (used + bytes <= quotaBytes) return;
  if (!isOwn)
    throw new Problem(
      "QUOTA_EXCEEDED",
      "The organisation that this data pool belongs to cannot store so much more; ask it to make room.",
    );
  throw new Problem(
    "QUOTA_EXCEEDED",
    `The data pools of your organisation hold ${formatGigabytes(used)} GB with the uploads that have begun, would hold ${formatGigabytes(used + bytes)} GB with this file, and may hold ${formatGigabytes(quotaBytes)} GB; delete files that are not needed any more, or give up an upload.`,
  );
}

async function readStoredBytes(run: RunStatement, organisationId: string): Promise<number> {
  const [row] = await run<{ readonly bytes: number }>({
    text: `select (
        (select coalesce(sum(bytes), 0) from pool_file where organisation_id = $1 and ended_at is null)
        + (select coalesce(sum(bytes), 0) from pool_upload where owner_id = $1 and stored_at is null and expires_at > now())
      )::float8 as bytes`,
    values: [organisationId],
    idempotent: true,
  });
  return row?.bytes ?? 0;
}
