import { readFile } from "node:fs/promises";
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
      const bytes = await readReferenced(root, reference);
      const path = describePath(root, reference);
      if (bytes === null) {
        throw new Problem(
          "DATA_REFERENCE_INVALID",
          `The file of this reference does not exist: the local server reads ${path} or ${path}.json.`,
        );
      }
      const reason = checkObject(bytes);
      if (reason !== null)
        throw new Problem("DATA_REFERENCE_INVALID", `The file of this reference ${reason}.`);
    },
    read: (reference) => readReferenced(root, reference),
  };
}

function describePath(root: string, reference: FileReference): string {
  return join(root, reference.dataPoolId, reference.dataSourceDescriptorId, reference.fileId);
}

async function readReferenced(root: string, reference: FileReference): Promise<Uint8Array | null> {
  const ids = [reference.dataPoolId, reference.dataSourceDescriptorId, reference.fileId];
  // The ids come from the request and become a path: anything but a UUID could lead out of the folder.
  if (!ids.every(isUuid)) return null;
  const path = describePath(root, reference);
  return (await readOrNull(path)) ?? readOrNull(`${path}.json`);
}

/** Null if the file does not exist or cannot be read: callers treat both alike, as with a real data pool. */
async function readOrNull(path: string): Promise<Uint8Array | null> {
  try {
    return await readFile(path);
  } catch {
    return null;
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
