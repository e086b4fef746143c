import { CPU_CAP_CONCURRENT } from "@platform/contract/platform-api/plans";
import type { Plan } from "@platform/contract/platform-api/plans";
import { defineCommand } from "../base/command.ts";
import type { CommandContext } from "../base/context.ts";
import { cleanText } from "../base/output.ts";
import { openSession, readAllPages } from "../base/session.ts";
import { findService } from "../project/find-service.ts";

const MAX_UNITS = 1_000_000_000_000;
const MAX_RATE = 1_000_000;
const WHOLE = { kind: "number", placeholder: "n", minimum: 1, maximum: MAX_UNITS, isInteger: true } as const;

const SERVICE = {
  description: "Name or key of the service; default: the project in this folder",
  required: false,
} as const;
const PLAN = { description: "Id of the plan, such as pro", required: true } as const;

/** `platform plans ls`: the current terms of each plan. */
export const listPlansCommand = defineCommand({
  name: "plans ls",
  summary: "List the plans of a service",
  description: ["The current terms of each; subscriptions keep the terms that they were made with."],
  arguments: { service: SERVICE },
  options: {},
  examples: [{ command: "platform plans ls tsp", comment: "A table" }],
  run: async (context, { arguments: { service } }) => {
    const { client } = await openSession(context);
    const { key } = await findService(context, client, service);
    const plans = await readAllPages((query) => client.listPlans({ params: { key }, query }));
    printPlans(context, plans);
    return { json: plans, succeeded: true };
  },
});

/** `platform plans put`: all terms of a plan. */
export const putPlanCommand = defineCommand({
  name: "plans put",
  summary: "Create a plan of a service, or replace its terms",
  description: [
    "What is not given is 0 or unlimited. --included, --cap and --per-minute are for each application: an organisation can have 1,000 of them, unless --applications says otherwise. Other terms are a new revision: subscriptions keep the one that they were made with.",
    "Prices are decimal numbers, such as 0.0025.",
  ],
  arguments: { plan: PLAN, service: SERVICE },
  options: {
    name: { kind: "text", placeholder: "name", description: "Display name; default: the plan's id" },
    currency: { kind: "text", placeholder: "code", description: "Currency of the prices, such as EUR" },
    monthly: { kind: "text", placeholder: "price", description: "Fee for each month" },
    perExecution: { kind: "text", placeholder: "price", description: "Price of an execution" },
    perCpuSecond: { kind: "text", placeholder: "price", description: "Price of a CPU-second" },
    unit: {
      kind: "text",
      placeholder: "unit",
      description: "What --included and --cap count",
      choices: ["execution", "cpu-second"],
      default: "execution",
    },
    included: { ...WHOLE, description: "Units of each month that cost no more than the fee", minimum: 0 },
    cap: { ...WHOLE, description: "Units of each month beyond which nothing is started" },
    perMinute: { ...WHOLE, description: "Starts in one minute", maximum: MAX_RATE },
    concurrent: {
      ...WHOLE,
      description: `Executions at one time; with a cap of CPU-seconds ${CPU_CAP_CONCURRENT} by default`,
      maximum: MAX_RATE,
    },
    applications: {
      ...WHOLE,
      description: "Applications of one organisation that can have it in a month",
      maximum: MAX_RATE,
    },
    revision: {
      ...WHOLE,
      minimum: 0,
      description: "Only if this is its revision, as 'plans ls' shows it; 0: only if there is no such plan",
    },
  },
  examples: [
    {
      command: "platform plans put pro tsp --currency EUR --monthly 9.90 --included 1000 --cap 5000",
      comment: "A fee, a quota and a cap",
    },
  ],
  run: async (context, { arguments: { plan: planId, service }, options }) => {
    const { name, unit, included, cap, perMinute, concurrent, applications, revision, ...prices } = options;
    const { client } = await openSession(context);
    const { key } = await findService(context, client, service);
    const body = {
      name: name ?? planId,
      unit: unit === "cpu-second" ? ("cpu-second" as const) : ("execution" as const),
      limits: omitMissing({ perMonth: cap, perMinute, concurrent, applications }),
      ...omitMissing({ revision, included, ...prices }),
    };
    const plan = await client.putPlan({ params: { key, planId }, body });
    printPlans(context, [plan]);
    return { json: plan, succeeded: true };
  },
});

/** `platform plans rm`: takes no new subscriptions. */
export const removePlanCommand = defineCommand({
  name: "plans rm",
  summary: "Withdraw a plan: it takes no new subscriptions",
  description: ["Subscriptions that have it keep it. The last plan of a service in the marketplace stays."],
  arguments: { plan: PLAN, service: SERVICE },
  options: {},
  examples: [{ command: "platform plans rm free tsp", comment: "No new free subscriptions to tsp" }],
  run: async (context, { arguments: { plan: planId, service } }) => {
    const { client } = await openSession(context);
    const { key } = await findService(context, client, service);
    await client.archivePlan({ params: { key, planId } });
    context.output.print(`The plan ${planId} takes no new subscriptions.`);
    return { json: { id: planId }, succeeded: true };
  },
});

/** Without the properties that are undefined: the wire has no such value. */
function omitMissing<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  // Safe: what is left out is exactly what is undefined.
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}

/** Prints plans as a table. */
export function printPlans({ output }: CommandContext, plans: readonly Plan[]): void {
  output.printTable(
    [
      "PLAN",
      "NAME",
      "REVISION",
      "PRICE",
      "INCLUDED",
      "CAP A MONTH",
      "STARTS A MINUTE",
      "AT ONCE",
      "APPLICATIONS",
    ],
    plans.map((plan) => [
      plan.id,
      cleanText(plan.name),
      String(plan.revision),
      formatPrice(plan),
      `${plan.included} ${plan.unit}s`,
      plan.limits.perMonth === null ? "-" : `${plan.limits.perMonth} ${plan.unit}s`,
      String(plan.limits.perMinute ?? "-"),
      String(plan.limits.concurrent ?? "-"),
      String(plan.limits.applications ?? "-"),
    ]),
    "No plans yet.",
  );
}

/** What a plan costs, in words: "free", "9.90 EUR a month + 0.01 EUR a CPU-second". */
export function formatPrice({
  currency,
  monthly,
  perExecution,
  perCpuSecond,
}: Pick<Plan, "currency" | "monthly" | "perExecution" | "perCpuSecond">): string {
  const parts = [
    [monthly, "a month"],
    [perExecution, "an execution"],
    [perCpuSecond, "a CPU-second"],
  ] as const;
  const shown = parts.filter(([price]) => price !== "0");
  if (currency === null || shown.length === 0) return "free";
  return shown.map(([price, of]) => `${price} ${currency} ${of}`).join(" + ");
}
