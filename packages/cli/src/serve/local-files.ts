import { stat } from "node:fs/promises";
import { Problem } from "@platform/contract/problems";
import { GIGABYTE, formatGigabytes } from "@platform/engine/base/bytes";
import { requireFewBytes, requireFewFiles } from "@platform/engine/store/pool-limits";
import type { PoolLimits } from "@platform/engine/store/pool-limits";
import { parsePointer } from "@platform/engine/json-check/pointer";
import type { JsonCheck } from "@platform/engine/json-check/json-check";
import type { PoolFilePin } from "@platform/engine/python/port/runtime";
import type { InputSource } from "@platform/engine/store/execution-store";
import type { KeptContents } from "./kept-contents.ts";
import { findFile, findPool, readPools } from "./pool-folder.ts";
import type { LocalFile } from "./pool-folder.ts";

/** Of the largest file that an execution reads; the platform's default. */
const MAX_BYTES = GIGABYTE;
/** Of the data pools that an execution reads as folders; the platform's defaults. */
const POOL_LIMITS: PoolLimits = { files: 1_000, bytes: 10 * GIGABYTE };

/** What local data pools are made of. */
export interface LocalFilesOptions {
  /** Absolute; see `pool-folder.ts`. It need not exist. */
  readonly root: string;
  readonly contents: Pick<KeptContents, "keep" | "linkTo">;
  readonly jsonCheck: Pick<JsonCheck, "ask">;
  readonly maxBytes?: number;
  readonly poolLimits?: PoolLimits;
}

/** Input from the local data pools: the content that was there at the start, whatever becomes of the file. */
export function createLocalFiles({
  root,
  contents,
  jsonCheck,
  maxBytes = MAX_BYTES,
  poolLimits = POOL_LIMITS,
}: LocalFilesOptions): InputSource {
  return {
    pin: async (reference, owner) => {
      const pointer = parsePointer(reference.pointer ?? "");
      if ("fault" in pointer) throw refuse(`The pointer ${pointer.fault}.`);
      const file = findFile((await readPools(root)).pools, reference);
      if (file === null)
        throw refuse(
          `No file below ${root} has these three ids. The server prints the reference of each file when it starts.`,
        );
      const kept = await contents.keep(file.path, maxBytes).catch((cause: unknown) => {
        throw refuse(`${file.path} cannot be read.`, cause);
      });
      if (kept === null)
        throw refuse(
          `The file is too large: an execution reads at most ${formatGigabytes(maxBytes)} GB by reference.`,
        );
      const form = await jsonCheck.ask(owner.organisationId, { path: kept.path, pointer });
      if (form.form === "other") throw refuse(`The file is not a JSON object: ${form.detail}.`);
      const part = pointer.length === 0 ? {} : { range: form.range };
      return { ...reference, sha256: kept.sha256, bytes: kept.bytes, ...part };
    },
    pinPools: (ids) => pinPools({ root, contents, poolLimits }, ids),
    place: async ({ sha256 }, path) => ((await contents.linkTo(sha256, path)) ? "placed" : "gone"),
  };
}

async function pinPools(
  { root, contents, poolLimits }: Required<Omit<LocalFilesOptions, "jsonCheck" | "maxBytes">>,
  ids: readonly string[],
): Promise<readonly (readonly PoolFilePin[])[]> {
  const { pools } = await readPools(root);
  const found = ids.map((id) => {
    const pool = findPool(pools, id);
    if (pool !== null) return pool;
    throw refuse(
      `No folder below ${root} has the id ${id}. The server prints the id of each when it starts.`,
    );
  });
  // As often as it is named: each time is a folder of the run.
  const files = found.flatMap((pool) => pool.files);
  requireFewFiles(files.length, poolLimits);
  const sizes = await Promise.all(files.map(({ path }) => stat(path).catch(() => ({ size: 0 }))));
  // Before anything is copied.
  requireFewBytes(
    sizes.map(({ size }) => ({ bytes: size })),
    poolLimits,
  );
  const pins = new Map<LocalFile, PoolFilePin>();
  for (const file of new Set(files)) {
    const kept = await keep(contents, file, poolLimits.bytes);
    pins.set(file, { name: file.name, fileId: file.reference.fileId, ...kept });
  }
  return found.map((pool) => pool.files.flatMap((file) => pins.get(file) ?? []));
}

async function keep(
  contents: Pick<KeptContents, "keep">,
  { path }: LocalFile,
  maxBytes: number,
): Promise<Pick<PoolFilePin, "sha256" | "bytes">> {
  const kept = await contents.keep(path, maxBytes).catch((cause: unknown) => {
    throw refuse(`${path} cannot be read.`, cause);
  });
  if (kept === null) throw refuse(`${path} is too large.`);
  return { sha256: kept.sha256, bytes: kept.bytes };
}

function refuse(detail: string, cause?: unknown): Problem {
  return new Problem("DATA_REFERENCE_INVALID", detail, { cause });
}
