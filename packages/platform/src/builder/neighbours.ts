import type { BuildClaim } from "../store/builds/builds.ts";
import { parseVersion } from "../store/base/columns.ts";
import type { VersionNumber } from "../store/base/columns.ts";
import type { VersionRecord, VersionStore } from "../store/versions/versions.ts";

const PAGE_SIZE = 100;

/** The live versions of the same major whose numbers are next to a new one's; null: there is none. */
export interface Neighbours {
  /** Its callers must keep working with the new version. */
  readonly lower: VersionRecord | null;
  /** Callers of the new version must keep working with it. */
  readonly higher: VersionRecord | null;
}

interface NumberedVersion {
  readonly record: VersionRecord;
  readonly number: VersionNumber;
}

/** The neighbours of the version that is built. */
export async function findNeighbours(versions: VersionStore, claim: BuildClaim): Promise<Neighbours> {
  const wanted = parseVersion(claim.version);
  if (!wanted) return { lower: null, higher: null };
  let lower: NumberedVersion | null = null;
  let higher: NumberedVersion | null = null;
  let cursor: string | undefined;
  do {
    const page = await versions.list(claim.organisationId, claim.serviceKey, { limit: PAGE_SIZE, cursor });
    for (const other of page.items.flatMap((record) => keepSameMajor(record, wanted))) {
      const isLower = compare(other.number, wanted) < 0;
      if (isLower) lower = takeHigher(lower, other, 1);
      else higher = takeHigher(higher, other, -1);
    }
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return { lower: lower?.record ?? null, higher: higher?.record ?? null };
}

function keepSameMajor(record: VersionRecord, wanted: VersionNumber): readonly NumberedVersion[] {
  const number = parseVersion(record.version);
  if (!number || record.retiredAt !== null || number.major !== wanted.major) return [];
  return compare(number, wanted) === 0 ? [] : [{ record, number }];
}

/** The higher of the two; the lower one where `sign` is -1. */
function takeHigher(one: NumberedVersion | null, other: NumberedVersion, sign: 1 | -1): NumberedVersion {
  return one && compare(one.number, other.number) * sign > 0 ? one : other;
}

function compare(a: VersionNumber, b: VersionNumber): number {
  return a.major - b.major || a.minor - b.minor || a.patch - b.patch;
}
