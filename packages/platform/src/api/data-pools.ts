import { formatTimestamp } from "@platform/contract/execution";
import type { DATA_POOLS_API, DataPool } from "@platform/contract/platform-api/data-pools";
import { Problem } from "@platform/contract/problems";
import { readPage } from "@platform/engine/http/paging";
import type { OperationHandlers } from "@platform/engine/http/types";
import type { DataPoolRecord } from "../store/pools/data-pools.ts";
import type { PlatformCaller } from "./caller.ts";
import { createPoolFileHandlers } from "./pool-files.ts";
import type { PoolFileDeps } from "./pool-files.ts";

type Handlers = OperationHandlers<typeof DATA_POOLS_API, PlatformCaller>;

/** Handlers of data pools and their files. */
export function createDataPoolHandlers(deps: PoolFileDeps): Handlers {
  return { ...createOwnHandlers(deps), ...createPoolFileHandlers(deps) };
}

function createOwnHandlers({
  dataPools,
}: PoolFileDeps): Pick<
  Handlers,
  "listDataPools" | "createDataPool" | "getDataPool" | "putDataPool" | "deleteDataPool"
> {
  return {
    listDataPools: async ({ caller, query }) => {
      const page = await dataPools.list(caller.organisationId, { ...readPage(query), text: query.q });
      return { status: 200, body: { items: page.items.map(toPoolBody), nextCursor: page.nextCursor } };
    },
    createDataPool: async ({ caller, body }) => {
      const { organisationId, userId: createdBy } = caller;
      const { name, description = "" } = body;
      const created = refuseTaken(await dataPools.create({ organisationId, name, description, createdBy }));
      return {
        status: 201,
        body: toPoolBody(created),
        headers: { location: `/api/data-pools/${created.id}` },
      };
    },
    getDataPool: async ({ caller, params }) => {
      const pool = await dataPools.find(caller.organisationId, params.id);
      if (pool === null) throw noPool();
      return { status: 200, body: toPoolBody(pool) };
    },
    putDataPool: async ({ caller, params, body }) => {
      const changed = refuseTaken(await dataPools.change(caller.organisationId, params.id, body));
      if (changed === null) throw noPool();
      return { status: 200, body: toPoolBody(changed) };
    },
    deleteDataPool: async ({ caller, params }) => {
      if (!(await dataPools.delete(caller.organisationId, params.id))) throw noPool();
      return { status: 204 };
    },
  };
}

/** @throws Problem CONFLICT */
function refuseTaken<T>(answer: T | "name taken"): T {
  if (answer !== "name taken") return answer;
  throw new Problem(
    "CONFLICT",
    "Your organisation has a data pool of this name; choose another name, or use that one.",
  );
}

function noPool(): Problem {
  return new Problem("NOT_FOUND", "There is no such data pool.");
}

function toPoolBody({ organisationId, organisationName, createdAt, ...pool }: DataPoolRecord): DataPool {
  const { id, name, description, fileCount, bytes, role } = pool;
  return {
    id,
    name,
    description,
    fileCount,
    bytes,
    organizationId: organisationId,
    organizationName: organisationName,
    role,
    createdAt: formatTimestamp(createdAt),
  };
}
