import { createHash } from "node:crypto";
import { createCache } from "@platform/engine/base/cache";
import { MINUTE } from "@platform/engine/base/time";
import { createFairGate } from "../base/fair-gate.ts";
import type { Sharer } from "../base/fair-gate.ts";
import type { ClientLanguage } from "@platform/contract/platform-api/marketplace";
import { createClient, describeApi } from "./create-client.ts";
import type { ClientVersion } from "./create-client.ts";
import { generateModels } from "./generate-models.ts";
import { zipClient } from "./package-client.ts";

/** A version never changes, so its clients do not either; each is about 40 KB. */
const MAX_KEPT = 200;
/** A client without types, because its time was over: the next caller may have more luck, and not many at once. */
const RETRY_MS = 5 * MINUTE;

/**
 * A client is made by a thread that may take seconds and much memory: one at a time, by turns of organisations, each of which may have those of two
 * versions waiting.
 */
const MAKERS = { what: "clients", inAll: 1, perSharer: 1, waiting: 6 };

/** A file that was made. */
interface MadeFile {
  /** SHA-256 of the content in hex. */
  readonly hash: string;
  readonly content: Buffer;
}

interface MadeClient extends MadeFile {
  readonly isLasting: boolean;
}

/** Makes clients and OpenAPI documents of versions. */
export interface ClientPackages {
  /** A ZIP file; equal versions have equal ones. @throws Problem RATE_LIMITED */
  readonly getClient: (asker: Sharer, version: ClientVersion, language: ClientLanguage) => Promise<MadeFile>;
  readonly getOpenApi: (version: ClientVersion) => MadeFile;
}

/** Keeps what was made lately in memory. `gatewayUrl`: as clients see it, without a final slash. */
export function createClientPackages(gatewayUrl: string, generate = generateModels): ClientPackages {
  const deps = { gatewayUrl, generateModels: generate };
  const gate = createFairGate(MAKERS);
  const made = createCache<MadeClient>({
    maxEntries: MAX_KEPT,
    ttlMs: ({ isLasting }) => (isLasting ? Infinity : RETRY_MS),
  });
  const make = async (version: ClientVersion, language: ClientLanguage): Promise<MadeClient> => {
    const { files, isLasting } = await createClient(version, language, deps);
    const content = await zipClient(files);
    return { hash: hash(content), content, isLasting };
  };
  return {
    getClient: async (asker, version, language) => {
      const key = hash(JSON.stringify([version, language]));
      return (
        made.peek(key) ??
        (await gate.admit(asker, () => made.get(key, async () => await make(version, language))))
      );
    },
    getOpenApi: (version) => {
      const content = Buffer.from(JSON.stringify(describeApi(version, gatewayUrl)));
      return { hash: hash(content), content };
    },
  };
}

function hash(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}
