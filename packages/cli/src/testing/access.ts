import { PLATFORM_API } from "@platform/contract/platform-api/platform-api";
import { Problem } from "@platform/contract/problems";
import type { OperationHandlers } from "@platform/engine/http/types";

const { createPersonalAccessToken, listPersonalAccessTokens, revokePersonalAccessToken } = PLATFORM_API;

/** The operations of tokens that the peer has. */
export const ACCESS_TABLE = {
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

/** One personal access token, and as many new ones as are wanted. */
export function createAccess(): OperationHandlers<typeof ACCESS_TABLE, null> {
  return {
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
