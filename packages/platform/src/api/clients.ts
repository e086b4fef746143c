import { Readable } from "node:stream";
import { withoutExactNumbers } from "@platform/contract/exact-number";
import type { MARKETPLACE_API } from "@platform/contract/platform-api/marketplace";
import { Problem } from "@platform/contract/problems";
import type { OperationHandlers } from "@platform/engine/http/types";
import type { ClientPackages } from "../clients/client-packages.ts";
import type { ClientVersionRecord, MarketplaceStore } from "../store/marketplace.ts";
import type { PlatformCaller } from "./caller.ts";

/** What the handlers work with. */
export interface ClientDeps {
  readonly marketplace: Pick<MarketplaceStore, "findForClient">;
  readonly clientPackages: ClientPackages;
}

/** Handlers of what callers need to call a service: schemas, clients, and the document for other generators. */
export function createClientHandlers({
  marketplace,
  clientPackages,
}: ClientDeps): Pick<
  OperationHandlers<typeof MARKETPLACE_API, PlatformCaller>,
  "getCallableVersion" | "downloadClient" | "downloadOpenApi"
> {
  const find = async (
    { organisationId }: PlatformCaller,
    { key, version }: { readonly key: string; readonly version: string },
  ): Promise<ClientVersionRecord> => {
    const found = await marketplace.findForClient(organisationId, key, version);
    if (found === null) throw new Problem("SERVICE_NOT_FOUND");
    return found;
  };
  return {
    getCallableVersion: async ({ caller, params }) => {
      const { version, inputSchema, outputSchema, exampleInput } = await find(caller, params);
      return { status: 200, body: { version, inputSchema, outputSchema, exampleInput } };
    },
    downloadClient: async ({ caller, params }) => {
      const { language } = params;
      const found = await find(caller, params);
      const made = await clientPackages.getClient(caller, toGenerated(found), language);
      const name = `${found.service}-${found.version}-${language}.zip`;
      return { status: 200, body: { content: toContent(made), type: "application/zip", name } };
    },
    downloadOpenApi: async ({ caller, params }) => {
      const found = await find(caller, params);
      const made = clientPackages.getOpenApi(toGenerated(found));
      const name = `${found.service}-${found.version}-openapi.json`;
      return { status: 200, body: { content: toContent(made), type: "application/json", name } };
    },
  };
}

/** Generators work with the numbers of schemas; the example is written as it is. */
function toGenerated({ exampleInput, ...found }: ClientVersionRecord): ClientVersionRecord {
  return { ...withoutExactNumbers(found), exampleInput };
}

function toContent({ hash, content }: { readonly hash: string; readonly content: Buffer }) {
  return {
    hash,
    bytes: content.length,
    open: ({ start, end }: { readonly start: number; readonly end: number }) =>
      Promise.resolve(Readable.from([content.subarray(start, end)])),
  };
}
