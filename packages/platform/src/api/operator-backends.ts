import { formatTimestamp } from "@platform/contract/execution";
import type {
  OPERATOR_BACKENDS_API,
  PlatformBackend,
} from "@platform/contract/platform-api/operator-backends";
import { Problem } from "@platform/contract/problems";
import { cutOffsetPage, readOffsetPage } from "@platform/engine/http/paging";
import type { OperationHandlers } from "@platform/engine/http/types";
import type {
  BackendTarget,
  PlatformBackendRecord,
  PlatformBackendStore,
} from "../store/platform-backends.ts";
import type { PlatformCaller } from "./caller.ts";

/** Handlers of the backends that all organisations may use. */
export function createOperatorBackendHandlers(
  backends: PlatformBackendStore,
): OperationHandlers<typeof OPERATOR_BACKENDS_API, PlatformCaller> {
  return {
    listPlatformBackends: async ({ query }) => {
      const page = readOffsetPage(query);
      const found = (await backends.list()).slice(page.offset, page.offset + page.limit + 1);
      return { status: 200, body: cutOffsetPage(found, page, toBody) };
    },
    putPlatformBackend: async ({ caller, params, body }) => {
      const made = await backends.put(params.backendId, readTarget(body), caller.userId);
      return { status: 200, body: toBody(made) };
    },
    deletePlatformBackend: async ({ caller, params: { backendId } }) => {
      if (!(await backends.remove(backendId, caller.userId)))
        throw new Problem("BACKEND_NOT_FOUND", `${backendId} is no backend of the platform.`);
      return { status: 204 };
    },
  };
}

/** One of them, as the schema has said. */
function readTarget({ serviceKey, aliasOf }: { serviceKey?: string; aliasOf?: string }): BackendTarget {
  if (aliasOf !== undefined) return { aliasOf };
  return { serviceKey: serviceKey ?? "" };
}

function toBody({
  id,
  aliasOf,
  version,
  sharedAt,
  serviceKey,
  serviceName,
  organisationId,
  organisationName,
}: PlatformBackendRecord): PlatformBackend {
  return {
    id,
    aliasOf,
    service: {
      key: serviceKey,
      name: serviceName,
      organizationId: organisationId,
      organization: organisationName,
    },
    version,
    sharedAt: formatTimestamp(sharedAt),
  };
}
