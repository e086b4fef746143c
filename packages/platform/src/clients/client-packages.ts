import { createHash } from "node:crypto";
import { createCache } from "@platform/engine/base/cache";
import { MINUTE } from "@platform/engine/base/time";
import type { ClientLanguage } from "@platform/contract/platform-api/marketplace";
import { createClient, describeApi } from "./create-client.ts";
import type { ClientVersion } from "./create-client.ts";
import { createModelGenerator } from "./generate-models.ts";
import { zipClient } from "./package-client.ts";

/** A version never changes, so its clients do not either; each is about 40 KB. */
const MAX_KEPT = 200;
/** A client without types, because its time was over: the next caller may have more luck, and not many at once. */
const RETRY_MS = 5 * MINUTE;

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
  /** A ZIP file; equal versions have equal ones. */
  readonly getClient: (version: ClientVersion, language: ClientLanguage) => Promise<MadeFile>;
  readonly getOpenApi: (version: ClientVersion) => MadeFile;
}

/** Keeps what was made lately in memory. `gatewayUrl`: as clients see it, without a final slash. */
export function createClientPackages(gatewayUrl: string): ClientPackages {
  const deps = { gatewayUrl, generateModels: createModelGenerator() };
  const made = createCache<MadeClient>({
    maxEntries: MAX_KEPT,
    ttlMs: ({ isLasting }) => (isLasting ? Infinity : RETRY_MS),
  });
  return {
    getClient: (version, language) =>
      made.get(hash(JSON.stringify([version, language])), async () => {
        const { files, isLasting } = await createClient(version, language, deps);
        const content = await zipClient(files);
        return { hash: hash(content), content, isLasting };
      }),
    getOpenApi: (version) => {
      const content = Buffer.from(JSON.stringify(describeApi(version, gatewayUrl)));
      return { hash: hash(content), content };
    },
  };
}

function hash(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}
