import { formatTimestamp } from "@platform/contract/execution";
import type {
  InstanceOrganization,
  OPERATOR_ACCOUNTS_API,
  User,
} from "@platform/contract/platform-api/operator-accounts";
import { readPage } from "@platform/engine/http/paging";
import type { OperationHandlers } from "@platform/engine/http/types";
import type { OperatedAccounts, OperatedOrganisation, OperatedUser } from "../accounts/operate-accounts.ts";
import type { PlatformCaller } from "./caller.ts";

const LINK_MINUTES = 60;

/** Handlers of what operators do with users and organisations. */
export function createOperatorAccountHandlers(
  accounts: Omit<OperatedAccounts, "setOperator">,
): OperationHandlers<typeof OPERATOR_ACCOUNTS_API, PlatformCaller> {
  return {
    listUsers: async ({ query }) => {
      const page = await accounts.listUsers({ ...query, ...readPage(query) });
      return { status: 200, body: { items: page.items.map(toUserBody), nextCursor: page.nextCursor } };
    },
    putUser: async ({ caller, params, body }) => {
      const user = await accounts.setUserDisabled(params.userId, body.disabled, caller.userId);
      return { status: 200, body: toUserBody(user) };
    },
    createResetLink: async ({ caller, params: { userId }, body }) => {
      const minutes = body.expiresInMinutes ?? LINK_MINUTES;
      const { email, url, expiresAt } = await accounts.createResetLink(userId, minutes, caller.userId);
      return {
        status: 201,
        body: { userId, email, url, expiresAt: formatTimestamp(expiresAt) },
        headers: { "cache-control": "no-store" },
      };
    },
    listAllOrganizations: async ({ query }) => {
      const page = await accounts.listAllOrganisations({ ...query, ...readPage(query) });
      return {
        status: 200,
        body: { items: page.items.map(toOrganizationBody), nextCursor: page.nextCursor },
      };
    },
  };
}

function toUserBody(user: OperatedUser): User {
  const { id, email, name, hasPassword, lastSeenAt, disabledAt } = user;
  return {
    id,
    email,
    emailVerified: user.isEmailVerified,
    name,
    operator: user.isOperator,
    hasPassword,
    organizations: user.organisations,
    createdAt: formatTimestamp(user.createdAt),
    lastSeenAt: lastSeenAt === null ? null : formatTimestamp(lastSeenAt),
    disabledAt: disabledAt === null ? null : formatTimestamp(disabledAt),
  };
}

function toOrganizationBody(organisation: OperatedOrganisation): InstanceOrganization {
  return { ...organisation, createdAt: formatTimestamp(organisation.createdAt) };
}
