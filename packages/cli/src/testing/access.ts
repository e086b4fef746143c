import { PLATFORM_API } from "@platform/contract/platform-api/platform-api";
import { Problem } from "@platform/contract/problems";
import type { OperationHandlers } from "@platform/engine/http/types";

const { getConfiguration, listApplications, putApplication, createAccessKey, rotateAccessKey } = PLATFORM_API;
const { createPersonalAccessToken, listPersonalAccessTokens, revokePersonalAccessToken } = PLATFORM_API;

/** The operations of tokens, applications and keys that the peer has. */
export const ACCESS_TABLE = {
  getConfiguration,
  listApplications,
  putApplication,
  createAccessKey,
  rotateAccessKey,
  createPersonalAccessToken,
  listPersonalAccessTokens,
  revokePersonalAccessToken,
};

/** Value of the token that the peer makes. */
export const NEW_TOKEN = "plat_pat_new";

const PERSONAL_TOKEN = {
  id: "token-1",
  name: "ci",
  scopes: ["deploy"],
  createdAt: "2026-11-20 21:17:00",
  expiresAt: "2027-02-18 21:17:00",
  lastUsedAt: null,
};

const APPLICATIONS = ["shop", "twin", "twin"].map((name, index) => ({
  id: `application-${index}`,
  name,
  createdAt: "2026-11-20 21:17:00",
}));

/** What the peer answers where a key is made. */
export const NEW_KEY = {
  keyId: "plat_key_new",
  name: "",
  createdAt: "2026-11-20 21:17:00",
  expiresAt: null,
  replacedBy: null,
  revokedAt: null,
  lastUsedAt: null,
  secret: "plat_secret_new",
};

const CONFIGURATION = {
  productName: "Platform",
  version: "1.0.0",
  gatewayUrl: "https://gateway.example.org",
  identityProvider: null,
  publicMarketplace: false,
  mail: false,
  kept: { resultDays: 30, logDays: 30 },
  limits: { archiveBytes: 1, inputBytes: 1, fileBytes: 1 },
};

/** Three applications, and as many keys as are wanted; one personal access token, and as many new ones as are wanted. */
export function createAccess(
  signUp: "open" | "invitation" | "closed" = "closed",
): OperationHandlers<typeof ACCESS_TABLE, null> {
  return {
    getConfiguration: () => ({ status: 200, body: { ...CONFIGURATION, signUp } }),
    listApplications: () => ({ status: 200, body: { items: APPLICATIONS, nextCursor: null } }),
    putApplication: ({ params, body }) => ({
      status: 200,
      body: { id: params.id, name: body.name, createdAt: "2026-11-20 21:17:00" },
    }),
    createAccessKey: ({ body }) => ({ status: 201, body: { ...NEW_KEY, name: body.name ?? "" } }),
    rotateAccessKey: ({ params, body }) => {
      if (params.keyId !== "plat_key_old") throw new Problem("NOT_FOUND");
      return { status: 201, body: { ...NEW_KEY, name: `after ${body.oldEndsInHours} h` } };
    },
    createPersonalAccessToken: async ({ body: { name, scopes = [] } }) => ({
      status: 201,
      body: { ...PERSONAL_TOKEN, name, scopes: [...scopes], token: NEW_TOKEN },
    }),
    listPersonalAccessTokens: async () => ({
      status: 200,
      body: { items: [PERSONAL_TOKEN], nextCursor: null },
    }),
    revokePersonalAccessToken: async ({ params }) => {
      if (params.id !== PERSONAL_TOKEN.id) throw new Problem("NOT_FOUND");
      return { status: 204 };
    },
  };
}
