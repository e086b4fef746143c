import { Problem } from "@platform/contract/problems";
import { requireFewBytes, requireFewFiles } from "@platform/engine/store/pool-limits";
import type { PoolLimits } from "@platform/engine/store/pool-limits";
import type { PoolFilePin } from "@platform/engine/python/port/runtime";
import type { Owner } from "@platform/engine/store/owner";
import type { ReferenceStore } from "../store/pools/references.ts";

/** The files of data pools at this moment, for an execution that reads them as folders. @throws Problem DATA_REFERENCE_INVALID */
export async function pinPools(
  { references, poolLimits }: { readonly references: ReferenceStore; readonly poolLimits: PoolLimits },
  dataPoolIds: readonly string[],
  owner: Owner,
): Promise<readonly (readonly PoolFilePin[])[]> {
  const ids = [...new Set(dataPoolIds.map((id) => id.toLowerCase()))];
  const byPool = new Map<string, PoolFilePin[]>();
  const rows = await references.listFiles(ids, owner, poolLimits.files + ids.length + 1);
  requireFewFiles(rows.filter(({ fileId }) => fileId !== null).length, poolLimits);
  for (const { poolId, ...file } of rows) {
    const files = byPool.get(poolId) ?? [];
    byPool.set(poolId, files);
    if (file.fileId !== null) files.push(file);
  }
  requireFewBytes([...byPool.values()].flat(), poolLimits);
  return dataPoolIds.map((id) => {
    const files = byPool.get(id.toLowerCase());
    if (files === undefined) throw new Problem("DATA_REFERENCE_INVALID");
    return files.sort((a, b) => (a.name < b.name ? -1 : 1));
  });
}
