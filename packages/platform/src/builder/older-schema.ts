import type { BuildClaim } from "../store/builds/builds.ts";
import { parseVersion } from "../store/base/columns.ts";
import type { VersionNumber } from "../store/base/columns.ts";
import type { VersionRecord, VersionStore } from "../store/versions/versions.ts";

const PAGE_SIZE = 100;

interface NumberedVersion {
  readonly record: VersionRecord;
  readonly number: VersionNumber;
}

/** The next lower live version of the same major, whose callers must keep working; null: there is none. */
export async function findOlderSchema(
  versions: VersionStore,
  claim: BuildClaim,
): Promise<VersionRecord | null> {
  const wanted = parseVersion(claim.version);
  if (!wanted) return null;
  let best: NumberedVersion | null = null;
  let cursor: string | undefined;
  do {
    const page = await versions.list(claim.organisationId, claim.serviceKey, { limit: PAGE_SIZE, cursor });
    for (const older of page.items.flatMap((record) => keepOlder(record, wanted)))
      if (!best || compare(older.number, best.number) > 0) best = older;
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return best?.record ?? null;
}

function keepOlder(record: VersionRecord, wanted: VersionNumber): readonly NumberedVersion[] {
  const number = parseVersion(record.version);
  if (!number || record.retiredAt !== null || number.major !== wanted.major) return [];
  return compare(number, wanted) < 0 ? [{ record, number }] : [];
}

function compare(a: VersionNumber, b: VersionNumber): number {
  return a.major - b.major || a.minor - b.minor || a.patch - b.patch;
}
