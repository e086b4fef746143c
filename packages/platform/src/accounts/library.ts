import { apiKey } from "@better-auth/api-key";
import { betterAuth } from "better-auth";
import { organization } from "better-auth/plugins/organization";
import { createAccessControl } from "better-auth/plugins/access";
import type { Pool } from "pg";
import type { Logger } from "@platform/engine/base/logger";
import { PERSONAL_ACCESS_TOKEN_PREFIX } from "../access/token-kinds.ts";
import { deriveKey } from "../secrets/seal.ts";

/** What the library works with. */
export interface LibraryOptions {
  readonly pool: Pool;
  /** The platform's secret; keys for single purposes are derived from it. */
  readonly secret: string;
  /** Origin of the platform API, e.g. `http://127.0.0.1:8090`. */
  readonly baseUrl: string;
  readonly logger: Logger;
}

const MAX_NAME_LENGTH = 120;
const MAX_DAYS = 3650;

/**
 * Configures better-auth for users, organisations and API keys in PostgreSQL, called only from this package's code.
 *
 * Its HTTP handler is not mounted anywhere: an earlier release let unauthenticated callers create API keys through it
 * (CVE-2025-61928). Its rate limit, which belongs to that handler, is off as well.
 */
export function createLibrary(options: LibraryOptions) {
  const access = createAccessControl({
    organization: ["update", "delete"],
    member: ["create", "update", "delete"],
  });
  const roles = {
    owner: access.newRole({ organization: ["update", "delete"], member: ["create", "update", "delete"] }),
    maintainer: access.newRole({ organization: [], member: [] }),
    viewer: access.newRole({ organization: [], member: [] }),
  };
  return betterAuth({
    appName: "Platform",
    database: options.pool,
    secret: deriveKey(options.secret, "better-auth").toString("base64url"),
    baseURL: options.baseUrl,
    emailAndPassword: { enabled: true, minPasswordLength: 12, autoSignIn: false },
    telemetry: { enabled: false },
    rateLimit: { enabled: false },
    // The platform's migrations create its tables, and a test compares them with what it expects. Its own validation at
    // start fails permanently when the database is unreachable at that moment.
    advanced: { database: { generateId: "uuid", validateSchema: false } },
    logger: {
      level: "warn",
      disableColors: true,
      log: (level, message, ...details) => {
        const error = details.find((detail) => detail instanceof Error);
        options.logger[level](error ? { err: error } : {}, `better-auth: ${message}`);
      },
    },
    plugins: [
      organization({ ac: access, roles, creatorRole: "owner", allowUserToCreateOrganization: false }),
      apiKey({
        defaultPrefix: PERSONAL_ACCESS_TOKEN_PREFIX,
        requireName: true,
        maximumNameLength: MAX_NAME_LENGTH,
        keyExpiration: { defaultExpiresIn: null, minExpiresIn: 0, maxExpiresIn: MAX_DAYS },
        rateLimit: { enabled: false },
        enableSessionForAPIKeys: false,
        startingCharactersConfig: { shouldStore: false },
      }),
    ],
  });
}

/** The configured library. */
export type Library = ReturnType<typeof createLibrary>;
