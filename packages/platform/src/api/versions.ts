import { formatTimestamp } from "@platform/contract/execution";
import { Problem } from "@platform/contract/problems";
import { MAX_BREAKING_CHANGES } from "@platform/contract/platform-api/services";
import type { SERVICES_API, Version, VersionDetails } from "@platform/contract/platform-api/services";
import { readPage } from "@platform/engine/http/paging";
import type { OperationHandlers } from "@platform/engine/http/types";
import type { ServiceStore } from "../store/services.ts";
import type { VersionDetails as StoredDetails } from "../store/versions/version-details.ts";
import type { VersionRecord, VersionStore } from "../store/versions/versions.ts";
import { listBreakingChanges } from "../versions/schema-changes.ts";
import type { PlatformCaller } from "./caller.ts";
import { findService } from "./find-service.ts";

/** What the handlers work with. */
interface VersionDeps {
  readonly services: ServiceStore;
  readonly versions: VersionStore;
}

/** Handlers of the versions of services. */
export function createVersionHandlers({
  services,
  versions,
}: VersionDeps): Pick<
  OperationHandlers<typeof SERVICES_API, PlatformCaller>,
  "listVersions" | "getVersion" | "retireVersion"
> {
  return {
    listVersions: async ({ caller, params, query }) => {
      await findService(services, caller, params.key);
      const page = await versions.list(caller.organisationId, params.key, readPage(query));
      return { status: 200, body: { items: page.items.map(toVersionBody), nextCursor: page.nextCursor } };
    },
    getVersion: async ({ caller, params: { key, version } }) => {
      const [found, details] = await Promise.all([
        versions.find(caller.organisationId, key, version),
        versions.findDetails(caller.organisationId, key, version),
      ]);
      if (found === null || details === null) throw new Problem("SERVICE_NOT_FOUND");
      return { status: 200, body: toDetailsBody(found, details) };
    },
    retireVersion: async ({ caller, params }) => {
      const retired = await versions.retire(caller.organisationId, params.key, params.version);
      if (!retired) throw new Problem("SERVICE_NOT_FOUND");
      return { status: 200, body: toVersionBody(retired) };
    },
  };
}

function toVersionBody(version: VersionRecord): Version {
  return {
    version: version.version,
    status: version.retiredAt === null ? "LIVE" : "RETIRED",
    resources: version.resources,
    timeoutSeconds: version.timeoutSeconds,
    inputSchema: version.inputSchema,
    createdAt: formatTimestamp(version.createdAt),
    retiredAt: version.retiredAt === null ? null : formatTimestamp(version.retiredAt),
  };
}

function toDetailsBody(version: VersionRecord, details: StoredDetails): VersionDetails {
  const { former, requirements, exampleInput, sizeBytes, python, createdBy } = details;
  const breakingChanges =
    former === null ? [] : listBreakingChanges(former.inputSchema, version.inputSchema, MAX_BREAKING_CHANGES);
  return {
    ...toVersionBody(version),
    readme: version.description,
    outputSchema: version.outputSchema,
    exampleInput,
    sizeBytes,
    python,
    requirements: requirements?.split("\n").filter((line) => line !== "") ?? null,
    createdBy,
    formerVersion: former?.version ?? null,
    isBreaking: breakingChanges.length > 0,
    breakingChange: breakingChanges[0] ?? null,
    breakingChanges: [...breakingChanges],
  };
}
