import { Type } from "typebox";
import type { Static } from "typebox";
import { MOST_USAGE_DAYS } from "../limits.ts";
import { READS } from "../operation-rows.ts";
import type { OperationTable } from "../operation.ts";
import { PageQuery } from "../service-api.ts";
import { StringEnum, pageOf } from "../schemas.ts";

/** What usage can be added up by. */
export const USAGE_DIMENSIONS = ["day", "service", "application", "plan", "version", "subscription"] as const;
/** One of them. */
export type UsageDimension = (typeof USAGE_DIMENSIONS)[number];
/** Whose usage: what the organisation has used, or what others have used of its services. */
export const USAGE_SIDES = ["consumer", "provider"] as const;
/** One of them. */
export type UsageSide = (typeof USAGE_SIDES)[number];

const Day = (description: string) =>
  Type.String({
    pattern: "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$",
    description: `${description}, YYYY-MM-DD in UTC`,
    examples: ["2026-11-20"],
  });

const Count = (description: string) => Type.Integer({ minimum: 0, description });

const UsageSchema = Type.Object(
  {
    key: Type.String({ description: "What it is the usage of: a day, the id of a subscription, ..." }),
    label: Type.String({ description: "The same for people" }),
    executions: Count("Executions that have ended; the sum of the next three"),
    succeeded: Count("Executions that SUCCEEDED"),
    failed: Count("Executions that FAILED, by their code, its limits, a cancellation, or the platform"),
    unknown: Count("Executions whose outcome is UNKNOWN"),
    notCharged: Count(
      "Executions among these that cost nothing: the platform could not start them or lost their worker, or they were cancelled before they ran",
    ),
    cpuSeconds: Type.Number({
      minimum: 0,
      description: "CPU time as it was measured; none of those that are not charged",
    }),
    gbSeconds: Type.Number({
      minimum: 0,
      description:
        "Memory of the version in GB, times the seconds of each run; none of those that are not charged",
    }),
    cost: Type.Array(
      Type.Object(
        {
          currency: Type.String({ description: "ISO 4217 code" }),
          amount: Type.String({ description: "Decimal number, exact", examples: ["0.0125"] }),
        },
        { title: "Money", description: "An amount of money" },
      ),
      { description: "What it costs by the plans, an amount for each currency; empty: nothing" },
    ),
  },
  { title: "Usage", description: "What was used" },
);

/** What was used. */
export type Usage = Static<typeof UsageSchema>;

/** What was used of services, on both sides of subscriptions. */
export const USAGE_API = {
  getUsage: {
    ...READS,
    path: "/usage",
    summary: "Show what was used, and what it costs",
    description:
      "An execution counts on the day on which it was started, once it has ended, by the plan of that time; also after it was removed. There is no payment provider: costs are what both sides agree on. Providers see how much was used, never inputs or results; the names of subscribers only with the permission to list them.",
    query: Type.Object({
      ...PageQuery.properties,
      from: Type.Optional(Day("First day; default: the first of this month")),
      to: Type.Optional(Day(`Last day, at most ${MOST_USAGE_DAYS} days; default: today`)),
      by: Type.Optional(
        StringEnum(USAGE_DIMENSIONS, { default: "day", description: "What is added up; default: by day" }),
      ),
      side: Type.Optional(
        StringEnum(USAGE_SIDES, {
          default: "consumer",
          description:
            "consumer: what applications and jobs of the organisation have used. provider: what subscriptions have used of its services",
        }),
      ),
    }),
    responses: { 200: { description: "One page, ordered by key", schema: pageOf("UsagePage", UsageSchema) } },
  },
} as const satisfies OperationTable;
