import { Problem } from "@platform/contract/problems";
import { requireFewBytes, requireFewFiles } from "@platform/engine/store/pool-limits";
import type { PoolLimits } from "@platform/engine/store/pool-limits";
import type { PoolFilePin } from "@platform/engine/python/port/runtime";
import type { Owner } from "@platform/engine/store/owner";
import type { ReferenceStore } from "../store/pools/references.ts";

/** Limits how many files of data pools the starts of an organisation name: each is listed, and stored with the execution. */
interface PinnedFileLimits {
  /** Before they are listed. @throws Problem RATE_LIMITED, UNAVAILABLE */
  readonly admit: (organisationId: string) => Promise<void>;
  /** So many were named by the start that was admitted. */
  readonly charge: (organisationId: string, files: number) => void;
}

/** What pools are listed with. */
export interface PinPoolsOptions {
  readonly references: ReferenceStore;
  readonly poolLimits: PoolLimits;
  readonly fileLimits: PinnedFileLimits;
}

/** The files of data pools at this moment, for an execution that reads them as folders. @throws Problem DATA_REFERENCE_INVALID, RATE_LIMITED */
export async function pinPools(
  { references, poolLimits, fileLimits }: PinPoolsOptions,
  dataPoolIds: readonly string[],
  owner: Owner,
): Promise<readonly (readonly PoolFilePin[])[]> {
  await fileLimits.admit(owner.organisationId);
  const ids = [...new Set(dataPoolIds.map((id) => id.toLowerCase()))];
  const byPool = new Map<string, PoolFilePin[]>();
  const rows = await references.listFiles(ids, owner, poolLimits.files + ids.length + 1);
  // Also where the start is refused: they were read.
  fileLimits.charge(owner.organisationId, rows.length);
  for (const { poolId, ...file } of rows) {
    const files = byPool.get(poolId) ?? [];
    byPool.set(poolId, files);
    if (file.fileId !== null) files.push(file);
  }
  for (const files of byPool.values()) files.sort((a, b) => (a.name < b.name ? -1 : 1));
  // As often as it is named: each time is a folder of the run.
  const named = dataPoolIds.map((id) => byPool.get(id.toLowerCase()));
  // Before one is missing: the rows end where there are too many.
  requireFewFiles(
    named.reduce((count, files) => count + (files?.length ?? 0), 0),
    poolLimits,
  );
  requireFewBytes(
    named.flatMap((files) => files ?? []),
    poolLimits,
  );
  return named.map((files) => {
    if (files === undefined) throw new Problem("DATA_REFERENCE_INVALID");
    return files;
  });
}
