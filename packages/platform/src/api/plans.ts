import { formatTimestamp } from "@platform/contract/execution";
import type { PLANS_API, Plan } from "@platform/contract/platform-api/plans";
import { Problem } from "@platform/contract/problems";
import { readPage } from "@platform/engine/http/paging";
import type { OperationHandlers } from "@platform/engine/http/types";
import { isFree } from "../store/plans.ts";
import type { PlanRecord } from "../store/plans.ts";
import type { Stores } from "../store/stores.ts";
import type { PlatformCaller } from "./caller.ts";
import { readTerms } from "./plan-terms.ts";
import { findService } from "./find-service.ts";

/** Handlers of the plans of services. */
export function createPlanHandlers({
  plans,
  services,
}: Pick<Stores, "plans" | "services">): OperationHandlers<typeof PLANS_API, PlatformCaller> {
  return {
    listPlans: async ({ caller, params, query }) => {
      const page = await plans.list(caller.organisationId, params.key, readPage(query));
      if (!page) throw new Problem("SERVICE_NOT_FOUND");
      return { status: 200, body: { items: page.items.map(toPlanBody), nextCursor: page.nextCursor } };
    },
    getPlan: async ({ caller, params }) => {
      const plan = await plans.find(caller.organisationId, params.key, params.planId);
      if (plan) return { status: 200, body: toPlanBody(plan) };
      await findService(services, caller, params.key);
      throw noPlan();
    },
    putPlan: async ({ caller, params, body }) => {
      const { revision: replaces, ...wanted } = body;
      const terms = { ...readTerms(wanted), id: params.planId, replaces };
      const { plan, isNew } = await plans.put(caller.organisationId, params.key, terms);
      return { status: isNew ? 201 : 200, body: toPlanBody(plan) };
    },
    archivePlan: async ({ caller, params }) => {
      const wasArchived = await plans.archive(caller.organisationId, params.key, params.planId);
      if (wasArchived === null) throw new Problem("SERVICE_NOT_FOUND");
      if (!wasArchived) throw noPlan();
      return { status: 204 };
    },
  };
}

/** A plan as callers see it. */
export function toPlanBody(plan: PlanRecord): Plan {
  const { perMonth, perMinute, concurrent, applications } = plan;
  return {
    id: plan.id,
    revision: plan.revision,
    kind: isFree(plan) ? "FREE" : "COMMERCIAL",
    name: plan.name,
    description: plan.description,
    currency: plan.currency,
    monthly: plan.monthly,
    perExecution: plan.perExecution,
    perCpuSecond: plan.perCpuSecond,
    unit: plan.unit,
    included: plan.included,
    limits: { perMonth, perMinute, concurrent, applications },
    createdAt: formatTimestamp(plan.createdAt),
  };
}

function noPlan(): Problem {
  return new Problem("NOT_FOUND", "There is no such plan.");
}
