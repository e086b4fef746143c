import { createHash } from "node:crypto";
import { linkSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { PinnedInputs, StagedInputs } from "../python/port/runtime.ts";
import type { Fixture } from "./python-fixture.ts";

export const POOL_ID = "11111111-1111-4111-8111-111111111111";

/** What a run needs whose `params.maps` is a data pool. */
export interface StagedPool {
  readonly params: { readonly maps: { readonly dataPoolId: string } };
  readonly files: StagedInputs;
  readonly pins: PinnedInputs;
}

/** A data pool of links to these objects. @param objects paths by the names in the pool */
export async function stagePool(
  { runtime }: Pick<Fixture, "runtime">,
  objects: Readonly<Record<string, string>>,
): Promise<StagedPool> {
  const entries = Object.entries(objects);
  const files = await runtime.stageInputs(async ({ makePool }) => {
    const folder = await makePool(0);
    for (const [name, path] of entries) linkSync(path, join(folder, name));
  });
  const pinned = entries.map(([name, path]) => {
    const content = readFileSync(path);
    const sha256 = createHash("sha256").update(content).digest("hex");
    return { name, fileId: name, sha256, bytes: content.length };
  });
  return {
    params: { maps: { dataPoolId: POOL_ID } },
    files,
    pins: { pools: [{ path: ["params", "maps"], dataPoolId: POOL_ID, files: pinned }] },
  };
}
