import { Type } from "typebox";
import type { Static } from "typebox";
import { READS, REMOVES, WRITES } from "../operation-rows.ts";
import type { OperationTable } from "../operation.ts";
import { PageQuery } from "../service-api.ts";
import { Nullable, StringEnum, Timestamp, pageOf } from "../schemas.ts";
import { DisplayName, KeyParams, Replaces } from "./common.ts";

/** Name of a plan in URLs, unique for its service. */
export const PlanId = Type.String({
  pattern: "^[a-z0-9][a-z0-9-]{0,61}[a-z0-9]$",
  description: "Name of the plan in URLs: lower-case letters, digits and hyphens, 2 to 63 characters",
  examples: ["free"],
});

/** An amount of money: a decimal string, since sums of binary fractions are not exact. */
const Price = Type.String({
  pattern: "^(0|[1-9][0-9]{0,8})([.][0-9]{1,6})?$",
  description: "Units of the currency as a decimal number, not negative, exact to a millionth",
  examples: ["0.0025"],
});

/** Largest quota and cap: far below what a JSON number holds exactly. */
const MAX_UNITS = 1_000_000_000_000;
const MAX_RATE = 1_000_000;

/** Executions at one time of a plan with a cap of CPU-seconds that names no other number: those that run may go beyond the cap. */
export const CPU_CAP_CONCURRENT = 8;

/** What quota and cap of a plan count. */
export const PlanUnit = StringEnum(["execution", "cpu-second"], {
  title: "PlanUnit",
  description: "What `included` and `limits.perMonth` count",
});

const Terms = {
  name: DisplayName,
  description: Type.String({ maxLength: 2000, description: "Text for people" }),
  currency: Nullable(
    Type.String({ pattern: "^[A-Z]{3}$", description: "ISO 4217 code", examples: ["EUR"] }),
    {
      description: "ISO 4217 code; null where every price is zero",
    },
  ),
  monthly: Price,
  perExecution: Price,
  perCpuSecond: Price,
  unit: PlanUnit,
  included: Type.Integer({
    minimum: 0,
    maximum: MAX_UNITS,
    description: "Units of each month and application that cost no more than the monthly fee",
  }),
};

const Limits = {
  perMonth: Nullable(Type.Integer({ minimum: 1, maximum: MAX_UNITS }), {
    description: "Units of each month and application beyond which starts are refused; null: no cap",
  }),
  perMinute: Nullable(Type.Integer({ minimum: 1, maximum: MAX_RATE }), {
    description: "Starts of one application in a minute; null: what the platform allows",
  }),
  concurrent: Nullable(Type.Integer({ minimum: 1, maximum: MAX_RATE }), {
    description: `Executions at one time, waiting ones included; null: what the platform allows. A plan with a cap of CPU-seconds has ${CPU_CAP_CONCURRENT} where none are named`,
  }),
  applications: Nullable(Type.Integer({ minimum: 1, maximum: MAX_RATE }), {
    description:
      "Applications of one organisation that can have the plan in a month (UTC); null: any number, and each has `included`, `perMonth` and `perMinute` for itself",
  }),
};

/** What a plan costs, without the rest of its terms. */
export const PricesSchema = Type.Object(
  {
    currency: Terms.currency,
    monthly: Terms.monthly,
    perExecution: Terms.perExecution,
    perCpuSecond: Terms.perCpuSecond,
  },
  { title: "Prices", description: "What a plan costs" },
);

/** The terms of a subscription. */
export const PlanSchema = Type.Object(
  {
    id: PlanId,
    revision: Type.Integer({
      description: "Counts from 1; other terms are a new revision, for new subscriptions",
    }),
    kind: StringEnum(["FREE", "COMMERCIAL"], {
      title: "PlanKind",
      description: "FREE: every price is zero. COMMERCIAL: some is not",
    }),
    ...Terms,
    limits: Type.Object(Limits, {
      title: "PlanLimits",
      description: "Limits of one subscription, and how many an organisation can have",
    }),
    createdAt: Timestamp("When this revision was made"),
  },
  { title: "Plan", description: "Prices and limits of a subscription" },
);

/** The terms of a subscription. */
export type Plan = Static<typeof PlanSchema>;

/** What of a plan can be chosen. */
const PutPlanSchema = Type.Object(
  {
    revision: Replaces("plan"),
    name: Terms.name,
    description: Type.Optional(Terms.description),
    currency: Type.Optional(Terms.currency),
    monthly: Type.Optional(Terms.monthly),
    perExecution: Type.Optional(Terms.perExecution),
    perCpuSecond: Type.Optional(Terms.perCpuSecond),
    unit: Type.Optional(Terms.unit),
    included: Type.Optional(Terms.included),
    limits: Type.Optional(
      Type.Object(
        {
          perMonth: Type.Optional(Limits.perMonth),
          perMinute: Type.Optional(Limits.perMinute),
          concurrent: Type.Optional(Limits.concurrent),
          applications: Type.Optional(Limits.applications),
        },
        { additionalProperties: false, description: "Limits of one subscription; an absent one is null" },
      ),
    ),
  },
  {
    additionalProperties: false,
    title: "PutPlanRequest",
    description: "All terms of the plan: an absent price is 0, an absent quota 0, an absent unit execution",
  },
);

/** What of a plan can be chosen. */
export type PutPlan = Static<typeof PutPlanSchema>;

const PlanParams = Type.Object({ key: KeyParams.properties.key, planId: PlanId });

/** Operations on the plans of a service. */
export const PLANS_API = {
  listPlans: {
    ...READS,
    path: "/services/{key}/plans",
    summary: "List the plans of a service",
    description: "The current revision of each, the newest plan first.",
    params: KeyParams,
    query: PageQuery,
    responses: { 200: { description: "One page", schema: pageOf("PlanPage", PlanSchema) } },
    problems: ["SERVICE_NOT_FOUND"],
  },
  getPlan: {
    ...READS,
    path: "/services/{key}/plans/{planId}",
    summary: "Get a plan of a service",
    description: "Its current revision.",
    params: PlanParams,
    responses: { 200: { description: "Plan", schema: PlanSchema } },
    problems: ["SERVICE_NOT_FOUND", "NOT_FOUND"],
  },
  putPlan: {
    ...WRITES,
    method: "PUT",
    path: "/services/{key}/plans/{planId}",
    allows: "edit",
    audit: "plan.put",
    summary: "Create a plan, or replace its terms",
    description:
      "Other terms are a new revision, which supersedes the one before: subscriptions keep the revision that they were made with until they change their plan. The same terms change nothing. CONFLICT: `revision` is given and is not the current one, so another change came first.",
    params: PlanParams,
    body: PutPlanSchema,
    responses: {
      200: { description: "Replaced, or the same as before", schema: PlanSchema },
      201: { description: "Created", schema: PlanSchema },
    },
    problems: ["SERVICE_NOT_FOUND", "CONFLICT", "QUOTA_EXCEEDED"],
  },
  archivePlan: {
    ...REMOVES,
    path: "/services/{key}/plans/{planId}",
    allows: "edit",
    audit: "plan.archive",
    summary: "Withdraw a plan",
    description:
      "It takes no new subscriptions; those that have it keep it. The only plan of a service in the marketplace cannot be withdrawn.",
    params: PlanParams,
    responses: { 204: { description: "Withdrawn" } },
    problems: ["SERVICE_NOT_FOUND", "NOT_FOUND", "CONFLICT"],
  },
} as const satisfies OperationTable;
