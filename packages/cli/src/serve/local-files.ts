import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { access, constants, copyFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { FileReference } from "@platform/contract/execution";
import { Problem } from "@platform/contract/problems";
import type { InputSource } from "@platform/engine/store/execution-store";
import { isUuid } from "@platform/engine/base/uuid";
import { parsePointer } from "@platform/engine/json-check/pointer";
import { scanFile } from "@platform/engine/json-check/scan-file";

/**
 * Reads data pools from folders: a reference is the file `<root>/<dataPoolId>/<dataSourceDescriptorId>/<fileId>`, with or
 * without `.json`.
 */
export function createLocalFiles(root: string): InputSource {
  return {
    pin: async (reference) => {
      const found = await findReferenced(root, reference);
      const path = describePath(root, reference);
      if (found === null) throw refuse(`does not exist: the local server reads ${path} or ${path}.json`);
      const pointer = parsePointer(reference.pointer ?? "");
      if ("fault" in pointer) throw refuse(`has a pointer that ${pointer.fault}`);
      const form = scanFile({ path: found, pointer });
      if (form.form === "other") throw refuse(`is not a JSON object: ${form.detail}`);
      const { size: bytes } = await stat(found);
      const part = pointer.length === 0 ? {} : { range: form.range };
      return { ...reference, sha256: await hashFile(found), bytes, ...part };
    },
    place: async (pin, path) => {
      const found = await findReferenced(root, pin);
      if (found === null) return "gone";
      // Never a link: the file is the developer's, who may edit it while the code runs, or may have done so since the start.
      await copyFile(found, path, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
      return (await hashFile(path)) === pin.sha256 ? "placed" : "gone";
    },
  };
}

/** @param fault what is wrong with the file, as the rest of a sentence */
function refuse(fault: string): Problem {
  return new Problem("DATA_REFERENCE_INVALID", `The file of this reference ${fault}.`);
}

async function hashFile(path: string): Promise<string> {
  const digest = createHash("sha256");
  await pipeline(createReadStream(path), digest);
  return digest.digest("hex");
}

function describePath(root: string, reference: FileReference): string {
  return join(root, reference.dataPoolId, reference.dataSourceDescriptorId, reference.fileId);
}

/** The path of the file; null if it does not exist or cannot be read: callers treat both alike, as with a real data pool. */
async function findReferenced(root: string, reference: FileReference): Promise<string | null> {
  const ids = [reference.dataPoolId, reference.dataSourceDescriptorId, reference.fileId];
  // The ids come from the request and become a path: anything but a UUID could lead out of the folder.
  if (!ids.every(isUuid)) return null;
  const path = describePath(root, reference);
  for (const candidate of [path, `${path}.json`]) if (await isReadable(candidate)) return candidate;
  return null;
}

async function isReadable(path: string): Promise<boolean> {
  try {
    await access(path, constants.R_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
