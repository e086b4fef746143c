import { PLATFORM_API } from "@platform/contract/platform-api/platform-api";
import { Problem } from "@platform/contract/problems";
import type { OperationHandlers } from "@platform/engine/http/types";

const { listOrganizationSecrets, putOrganizationSecret, deleteOrganizationSecret } = PLATFORM_API;

/** The operations of secrets that the peer has. */
export const SECRETS_TABLE = { listOrganizationSecrets, putOrganizationSecret, deleteOrganizationSecret };

const describe = (name: string) => ({
  name,
  revision: 1,
  changedAt: "2026-11-20 21:17:00",
  changedBy: "Ada",
});

/** Secrets of the organisation; `values` is what was set. */
export function createSecrets(values: Map<string, string>): OperationHandlers<typeof SECRETS_TABLE, null> {
  return {
    listOrganizationSecrets: async () => ({
      status: 200,
      body: { items: [...values.keys()].map(describe), nextCursor: null },
    }),
    putOrganizationSecret: async ({ params, body }) => {
      values.set(params.name, body.value);
      return { status: 200, body: describe(params.name) };
    },
    deleteOrganizationSecret: async ({ params }) => {
      if (!values.delete(params.name)) throw new Problem("NOT_FOUND");
      return { status: 204 };
    },
  };
}
