import { Problem } from "@platform/contract/problems";
import type { SERVICES_API } from "@platform/contract/platform-api/services";
import type { OperationHandlers } from "@platform/engine/http/types";
import type { Objects } from "../objects/object-store.ts";
import type { VersionStore } from "../store/versions/versions.ts";
import type { PlatformCaller } from "./caller.ts";
import { explainStoreError } from "./store-problems.ts";

/** What the handler works with. */
export interface ArchiveDeps {
  readonly versions: Pick<VersionStore, "findArchive">;
  readonly objects: Pick<Objects, "read">;
}

/** Handler of the archives of versions: only the organisation that has deployed them gets them. */
export function createArchiveHandlers({
  versions,
  objects,
}: ArchiveDeps): Pick<OperationHandlers<typeof SERVICES_API, PlatformCaller>, "downloadArchive"> {
  return {
    downloadArchive: async ({ caller, params }) => {
      const archive = await versions.findArchive(caller.organisationId, params.key, params.version);
      if (archive === null) throw new Problem("SERVICE_NOT_FOUND");
      const { hash, service } = archive;
      const open = async (range?: Parameters<Objects["read"]>[1]) => {
        try {
          return await objects.read(hash, range);
        } catch (error) {
          throw explainStoreError(error, "The archive");
        }
      };
      // A former release did not note sizes.
      const bytes = archive.bytes ?? (await countBytes(await open()));
      const name = `${service}-${params.version}.zip`;
      return { status: 200, body: { content: { hash, bytes, open }, type: "application/zip", name } };
    },
  };
}

async function countBytes(content: AsyncIterable<Uint8Array>): Promise<number> {
  let bytes = 0;
  for await (const chunk of content) bytes += chunk.byteLength;
  return bytes;
}
