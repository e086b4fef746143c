import type { BuildClaim } from "../store/builds/builds.ts";
import { parseVersion } from "../store/base/columns.ts";
import type { VersionNumber } from "../store/base/columns.ts";
import type { VersionRecord, VersionStore } from "../store/versions/versions.ts";

const PAGE_SIZE = 100;

/** The live version next below, of the same major: what its callers know must go on working. Null where there is none. */
export async function findOlderSchema(
  versions: VersionStore,
  claim: BuildClaim,
): Promise<VersionRecord | null> {
  const wanted = parseVersion(claim.version);
  if (!wanted) return null;
  let best: { readonly record: VersionRecord; readonly number: VersionNumber } | null = null;
  let cursor: string | undefined;
  do {
    const page = await versions.list(claim.organizationId, claim.serviceKey, { limit: PAGE_SIZE, cursor });
    for (const record of page.items) {
      const number = parseVersion(record.version);
      if (!number || record.retiredAt !== null || number.major !== wanted.major) continue;
      if (compare(number, wanted) < 0 && (!best || compare(number, best.number) > 0))
        best = { record, number };
    }
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return best?.record ?? null;
}

function compare(a: VersionNumber, b: VersionNumber): number {
  return a.major - b.major || a.minor - b.minor || a.patch - b.patch;
}
