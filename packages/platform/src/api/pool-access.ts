import { formatTimestamp } from "@platform/contract/execution";
import type { POOL_ACCESS_API, PoolGrant, PoolShare } from "@platform/contract/platform-api/pool-access";
import { Problem } from "@platform/contract/problems";
import { readPage } from "@platform/engine/http/paging";
import type { OperationHandlers } from "@platform/engine/http/types";
import type { PoolGrantRecord } from "../store/pools/pool-grants.ts";
import type { PoolKey } from "../store/pools/pool-rights.ts";
import type { PoolShareRecord } from "../store/pools/pool-shares.ts";
import type { Stores } from "../store/stores.ts";
import type { PlatformCaller } from "./caller.ts";

type Handlers = OperationHandlers<typeof POOL_ACCESS_API, PlatformCaller>;

/** Handlers of who else may use data pools. */
export function createPoolAccessHandlers({
  poolShares,
  poolGrants,
}: Pick<Stores, "poolShares" | "poolGrants">): Handlers {
  return {
    listPoolShares: async ({ caller, params, query }) => {
      const page = requirePool(await poolShares.list(toKey(caller, params), readPage(query)));
      return { status: 200, body: { items: page.items.map(toShareBody), nextCursor: page.nextCursor } };
    },
    putPoolShare: async ({ caller, params, body }) => {
      const wanted = { organisationId: params.organizationId, role: body.role, createdBy: caller.userId };
      const share = requirePool(await poolShares.put(toKey(caller, params), wanted));
      return { status: 200, body: toShareBody(share) };
    },
    deletePoolShare: async ({ caller, params }) => {
      if (requirePool(await poolShares.delete(toKey(caller, params), params.organizationId)))
        return { status: 204 };
      throw new Problem("NOT_FOUND", "The data pool is not shared with such an organisation.");
    },
    listPoolGrants: async ({ caller, params, query }) => {
      const page = requirePool(await poolGrants.list(toKey(caller, params), readPage(query)));
      return { status: 200, body: { items: page.items.map(toGrantBody), nextCursor: page.nextCursor } };
    },
    putPoolGrant: async ({ caller, params, body }) => {
      const wanted = { applicationId: params.applicationId, access: body.access, createdBy: caller.userId };
      const grant = requirePool(await poolGrants.put(toKey(caller, params), wanted));
      return { status: 200, body: toGrantBody(grant) };
    },
    deletePoolGrant: async ({ caller, params }) => {
      if (requirePool(await poolGrants.delete(toKey(caller, params), params.applicationId)))
        return { status: 204 };
      throw new Problem("NOT_FOUND", "No such application was let use the data pool.");
    },
  };
}

/** @throws Problem NOT_FOUND */
function requirePool<T>(answer: T | null): T {
  if (answer === null) throw new Problem("NOT_FOUND", "There is no such data pool.");
  return answer;
}

function toKey({ organisationId }: PlatformCaller, { id }: { readonly id: string }): PoolKey {
  return { organisationId, poolId: id };
}

function toShareBody({ organisationId, organisationName, ...share }: PoolShareRecord): PoolShare {
  return {
    organizationId: organisationId,
    organizationName: organisationName,
    role: share.role,
    createdAt: formatTimestamp(share.createdAt),
    createdBy: share.createdBy,
  };
}

function toGrantBody({ organisationId, organisationName, ...grant }: PoolGrantRecord): PoolGrant {
  return {
    applicationId: grant.applicationId,
    applicationName: grant.applicationName,
    organizationId: organisationId,
    organizationName: organisationName,
    access: grant.access,
    createdAt: formatTimestamp(grant.createdAt),
    createdBy: grant.createdBy,
  };
}
