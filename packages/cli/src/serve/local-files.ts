import { access, constants, copyFile, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { FileReference } from "@platform/contract/execution";
import { Problem } from "@platform/contract/problems";
import type { InputSource } from "@platform/engine/store/execution-store";
import { isRecord } from "@platform/engine/base/json";
import { isUuid } from "@platform/engine/base/uuid";
import { getMessage } from "@platform/engine/base/thrown";

/**
 * Reads data pools from folders: a reference is the file `<root>/<dataPoolId>/<dataSourceDescriptorId>/<fileId>`, with or
 * without `.json`.
 */
export function createLocalFiles(root: string): InputSource {
  return {
    check: async (reference) => {
      const found = await findReferenced(root, reference);
      const path = describePath(root, reference);
      if (found === null) {
        throw new Problem(
          "DATA_REFERENCE_INVALID",
          `The file of this reference does not exist: the local server reads ${path} or ${path}.json.`,
        );
      }
      const reason = checkObject(await readFile(found));
      if (reason !== null)
        throw new Problem("DATA_REFERENCE_INVALID", `The file of this reference ${reason}.`);
    },
    place: async (reference, _owner, path) => {
      const found = await findReferenced(root, reference);
      if (found === null) return "gone";
      // Never a link: the file is the developer's, who may edit it while the code runs.
      await copyFile(found, path, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
      return "placed";
    },
  };
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

/** Why the content is refused, as the rest of a sentence; null if it is a JSON object. */
function checkObject(bytes: Uint8Array): string | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return isRecord(value) ? null : "contains JSON, but not an object";
  } catch (error) {
    return `is not JSON: ${getMessage(error)}`;
  }
}
