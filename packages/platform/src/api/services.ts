import { formatTimestamp } from "@platform/contract/execution";
import { Problem } from "@platform/contract/problems";
import type { SERVICES_API, Service } from "@platform/contract/platform-api/services";
import { readPage } from "@platform/engine/http/paging";
import type { OperationHandlers } from "@platform/engine/http/types";
import type { ServiceObstacles } from "../store/delete-service.ts";
import type { ServiceRecord, ServiceStore } from "../store/services.ts";
import type { VersionStore } from "../store/versions/versions.ts";
import { createArchiveHandlers } from "./archives.ts";
import type { ArchiveDeps } from "./archives.ts";
import type { PlatformCaller } from "./caller.ts";
import { findService } from "./find-service.ts";
import { createVersionHandlers } from "./versions.ts";

type Handlers = Pick<
  OperationHandlers<typeof SERVICES_API, PlatformCaller>,
  | "listServices"
  | "createService"
  | "getService"
  | "putService"
  | "deleteService"
  | "publishService"
  | "unpublishService"
  | "listVersions"
  | "getVersion"
  | "retireVersion"
  | "downloadArchive"
>;

/** What the handlers work with. */
interface ServiceDeps extends ArchiveDeps {
  readonly services: ServiceStore;
  readonly versions: VersionStore;
  /** The most days for which a service may keep executions. */
  readonly maxRetentionDays: number;
}

/** Handlers of services and their versions. */
export function createServiceHandlers({
  services,
  versions,
  objects,
  maxRetentionDays,
}: ServiceDeps): Handlers {
  return {
    listServices: async ({ caller, query }) => {
      if (query.name !== undefined) {
        const found = await services.findByName(caller.organisationId, query.name);
        return { status: 200, body: { items: found ? [toServiceBody(found)] : [], nextCursor: null } };
      }
      const { q: text, publication } = query;
      const page = await services.list(caller.organisationId, { ...readPage(query), text, publication });
      return { status: 200, body: { items: page.items.map(toServiceBody), nextCursor: page.nextCursor } };
    },
    createService: async ({ caller, body }) => {
      const created = await services.create({
        organisationId: caller.organisationId,
        name: body.name,
        description: body.description ?? "",
      });
      return {
        status: 201,
        body: toServiceBody(created),
        headers: { location: `/api/services/${created.key}` },
      };
    },
    getService: async ({ caller, params }) => ({
      status: 200,
      body: toServiceBody(await findService(services, caller, params.key)),
    }),
    putService: async ({ caller, params, body }) => {
      await findService(services, caller, params.key);
      requireAllowed(Math.max(body.resultDays ?? 0, body.logDays ?? 0), maxRetentionDays);
      const changed = await services.change(caller.organisationId, params.key, body);
      if (!changed) throw new Problem("SERVICE_NOT_FOUND");
      return { status: 200, body: toServiceBody(changed) };
    },
    ...createLifecycleHandlers(services),
    ...createVersionHandlers({ services, versions }),
    ...createArchiveHandlers({ versions, objects }),
  };
}

function createLifecycleHandlers(
  services: ServiceStore,
): Pick<Handlers, "deleteService" | "publishService" | "unpublishService"> {
  return {
    deleteService: async ({ caller, params }) => {
      const result = await services.delete(caller.organisationId, params.key);
      if (result === null) throw new Problem("SERVICE_NOT_FOUND");
      if (result !== "deleted") throw new Problem("CONFLICT", explainObstacles(result));
      return { status: 204 };
    },
    publishService: async ({ caller, params, body }) => {
      const published = await services.publish(caller.organisationId, params.key, body.scope);
      if (!published) throw new Problem("SERVICE_NOT_FOUND");
      return { status: 200, body: toServiceBody(published) };
    },
    unpublishService: async ({ caller, params }) => {
      const withdrawn = await services.publish(caller.organisationId, params.key, null);
      if (!withdrawn) throw new Problem("SERVICE_NOT_FOUND");
      return { status: 200, body: toServiceBody(withdrawn) };
    },
  };
}

function explainObstacles({ versions, builds, subscriptions }: ServiceObstacles): string {
  if (versions > 0)
    return "The service has versions, which stay for the record of what they ran: retire them, and take the service back.";
  if (builds > 0) return "A version of the service is being built; delete it if that fails.";
  const what = subscriptions === 1 ? "1 subscription" : `${subscriptions} subscriptions`;
  return `The service has or had ${what}, which stay for the record of usage; take it back instead.`;
}

/** @throws Problem QUOTA_EXCEEDED */
function requireAllowed(days: number, most: number): void {
  if (days > most)
    throw new Problem(
      "QUOTA_EXCEEDED",
      `This platform keeps executions for at most ${most} days, not ${days}.`,
    );
}

function toServiceBody(service: ServiceRecord): Service {
  return {
    key: service.key,
    name: service.name,
    description: service.description,
    publication: service.publication,
    logs: service.logs,
    resultDays: service.resultDays,
    logDays: service.logDays,
    latestVersion: service.latestVersion,
    createdAt: formatTimestamp(service.createdAt),
  };
}
