import { PLATFORM_API } from "@platform/contract/platform-api/platform-api";
import { Problem } from "@platform/contract/problems";
import type { OperationHandlers } from "@platform/engine/http/types";
import { POLICIES_TABLE, createPolicies } from "./policies.ts";

const {
  listOrganizationSecrets,
  putOrganizationSecret,
  deleteOrganizationSecret,
  listOrganizationVariables,
  putOrganizationVariable,
  deleteOrganizationVariable,
} = PLATFORM_API;

/** The operations of secrets, variables and policies that the peer has. */
export const SECRETS_TABLE = {
  listOrganizationSecrets,
  putOrganizationSecret,
  deleteOrganizationSecret,
  listOrganizationVariables,
  putOrganizationVariable,
  deleteOrganizationVariable,
  ...POLICIES_TABLE,
};

const describe = (name: string) => ({
  name,
  revision: 1,
  changedAt: "2026-11-20 21:17:00",
  changedBy: "Ada",
});

/** Secrets and variables of the organisation; `values` is what was set as a secret. */
export function createSecrets(values: Map<string, string>): OperationHandlers<typeof SECRETS_TABLE, null> {
  const variables = new Map<string, string>();
  return {
    ...createPolicies(),
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
    listOrganizationVariables: async () => ({
      status: 200,
      body: {
        items: [...variables].map(([name, value]) => ({ ...describe(name), value })),
        nextCursor: null,
      },
    }),
    putOrganizationVariable: async ({ params, body: { value } }) => {
      variables.set(params.name, value);
      return { status: 200, body: { ...describe(params.name), value } };
    },
    deleteOrganizationVariable: async ({ params }) => {
      if (!variables.delete(params.name)) throw new Problem("NOT_FOUND");
      return { status: 204 };
    },
  };
}
