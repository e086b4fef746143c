import { formatTimestamp } from "@platform/contract/execution";
import type { POLICIES_API, PolicyRevision } from "@platform/contract/platform-api/policies";
import type { ServicePolicy } from "@platform/contract/policy";
import { Problem } from "@platform/contract/problems";
import { readPage } from "@platform/engine/http/paging";
import type { OperationHandlers } from "@platform/engine/http/types";
import type { PolicyRecord, PolicyStore } from "../store/policies.ts";
import type { PlatformCaller } from "./caller.ts";

/** What the handlers work with. */
interface PolicyDeps {
  readonly policies: PolicyStore;
  /** Ids of the organisations whose services may have the priority high. */
  readonly highPriorityOrganisations: ReadonlySet<string>;
}

/** Handlers of the policies of services. */
export function createPolicyHandlers({
  policies,
  highPriorityOrganisations,
}: PolicyDeps): OperationHandlers<typeof POLICIES_API, PlatformCaller> {
  return {
    getPolicy: async ({ caller, params }) => ({
      status: 200,
      body: toBody(requireService(await policies.find(caller.organisationId, params.key))),
    }),
    putPolicy: async ({ caller, params, body }) => {
      const { organisationId, userId } = caller;
      requireService(await policies.find(organisationId, params.key));
      requireAllowed(body.policy, highPriorityOrganisations.has(organisationId));
      const change = { replaces: body.revision, policy: body.policy, by: userId };
      return {
        status: 200,
        body: toBody(requireService(await policies.put(organisationId, params.key, change))),
      };
    },
    listPolicyRevisions: async ({ caller, params, query }) => {
      const { items, nextCursor } = requireService(
        await policies.list(caller.organisationId, params.key, readPage(query)),
      );
      return { status: 200, body: { items: items.map(toBody), nextCursor } };
    },
  };
}

function requireService<T>(found: T | null): T {
  if (found === null) throw new Problem("SERVICE_NOT_FOUND");
  return found;
}

/** @throws Problem FORBIDDEN */
function requireAllowed({ priority }: ServicePolicy, isHighAllowed: boolean): void {
  if (priority !== "high" || isHighAllowed) return;
  const message =
    "The operator of this platform does not allow your organisation the priority high. Use normal or low, or ask the operator, who allows it with --high-priority-organizations.";
  throw new Problem("FORBIDDEN", message, { errors: [{ path: "/policy/priority", message }] });
}

function toBody({ revision, policy, createdAt, createdBy }: PolicyRecord): PolicyRevision {
  return {
    revision,
    policy,
    createdAt: createdAt === null ? null : formatTimestamp(createdAt),
    createdBy,
  };
}
