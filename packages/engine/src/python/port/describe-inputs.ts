import { createHash } from "node:crypto";
import type { Metadata, PinnedInputs, PoolFilePin } from "./runtime.ts";

/** What an execution reads by reference, as the metadata of its result and its receipt name it. */
export function describeInputs({ pools, ...files }: PinnedInputs): Metadata {
  const read = Object.entries(files).map(([name, { fileId, sha256, bytes }]) => [
    name,
    { fileId, sha256, bytes },
  ]);
  const listed = pools?.map(({ path, dataPoolId, files: all }) => [
    `/${path.join("/")}`,
    {
      dataPoolId,
      files: all.length,
      bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
      sha256: hashPool(all),
    },
  ]);
  return { ...Object.fromEntries(read), ...(listed ? { pools: Object.fromEntries(listed) } : {}) };
}

/** Of what `LC_ALL=C sha256sum *` prints in a folder of the files: thousands of hashes would not fit into the metadata. */
function hashPool(files: readonly PoolFilePin[]): string {
  const lines = files
    .map(({ name, sha256 }) => [Buffer.from(name), `${sha256}  ${name}\n`] as const)
    .sort(([a], [b]) => Buffer.compare(a, b));
  return createHash("sha256")
    .update(lines.map(([, line]) => line).join(""))
    .digest("hex");
}
