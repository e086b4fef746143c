import { Problem } from "@platform/contract/problems";
import { GIGABYTE, formatGigabytes } from "@platform/engine/base/bytes";
import { parsePointer } from "@platform/engine/json-check/pointer";
import { scanFile } from "@platform/engine/json-check/scan-file";
import type { InputSource } from "@platform/engine/store/execution-store";
import type { KeptContents } from "./kept-contents.ts";
import { findFile, readPools } from "./pool-folder.ts";

/** Of the largest file that an execution reads; the platform's default. */
const MAX_BYTES = GIGABYTE;

/** What local data pools are made of. */
export interface LocalFilesOptions {
  /** Absolute; see `pool-folder.ts`. It need not exist. */
  readonly root: string;
  readonly contents: Pick<KeptContents, "keep" | "linkTo">;
  readonly maxBytes?: number;
}

/** Input from the local data pools: the content that was there at the start, whatever becomes of the file. */
export function createLocalFiles({ root, contents, maxBytes = MAX_BYTES }: LocalFilesOptions): InputSource {
  return {
    pin: async (reference) => {
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
      const form = scanFile({ path: kept.path, pointer });
      if (form.form === "other") throw refuse(`The file is not a JSON object: ${form.detail}.`);
      const part = pointer.length === 0 ? {} : { range: form.range };
      return { ...reference, sha256: kept.sha256, bytes: kept.bytes, ...part };
    },
    place: async ({ sha256 }, path) => ((await contents.linkTo(sha256, path)) ? "placed" : "gone"),
  };
}

function refuse(detail: string, cause?: unknown): Problem {
  return new Problem("DATA_REFERENCE_INVALID", detail, { cause });
}
