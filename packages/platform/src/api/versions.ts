import { formatTimestamp } from "@platform/contract/execution";
import { Problem } from "@platform/contract/problems";
import { MAX_BREAKING_CHANGES } from "@platform/contract/platform-api/services";
import type {
  ListedVersion,
  SERVICES_API,
  Version,
  VersionDetails,
} from "@platform/contract/platform-api/services";
import { readPage } from "@platform/engine/http/paging";
import type { OperationHandlers } from "@platform/engine/http/types";
import type { ServiceStore } from "../store/services.ts";
import type { FormerVersion, VersionDetails as StoredDetails } from "../store/versions/version-details.ts";
import type { VersionRecord, VersionStore } from "../store/versions/versions.ts";
import { createStepBudget, findBreakingChange, listBreakingChanges } from "../versions/schema-changes.ts";
import type { StepBudget } from "../versions/schema-changes.ts";
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
      const former = await versions.listFormer(
        caller.organisationId,
        page.items.map(({ id }) => id),
      );
      const budget = createStepBudget();
      const items = page.items.map((one) => toListedBody(one, former.get(one.id), budget));
      return { status: 200, body: { items, nextCursor: page.nextCursor } };
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

/** @param budget of all that are listed together */
function toListedBody(
  version: VersionRecord,
  former: FormerVersion | undefined,
  budget: StepBudget,
): ListedVersion {
  return {
    ...toVersionBody(version),
    formerVersion: former?.version ?? null,
    breakingChange:
      former === undefined ? null : findBreakingChange(former.inputSchema, version.inputSchema, budget),
  };
}

function toDetailsBody(version: VersionRecord, details: StoredDetails): VersionDetails {
  const { former, requirements, exampleInput, inputSchema, outputSchema, sizeBytes, python, createdBy } =
    details;
  const breakingChanges =
    former === null ? [] : listBreakingChanges(former.inputSchema, version.inputSchema, MAX_BREAKING_CHANGES);
  return {
    ...toVersionBody(version),
    readme: version.description,
    inputSchema,
    outputSchema,
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
