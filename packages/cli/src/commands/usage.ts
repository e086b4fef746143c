import { USAGE_DIMENSIONS, USAGE_SIDES } from "@platform/contract/platform-api/usage";
import type { Usage } from "@platform/contract/platform-api/usage";
import { defineCommand } from "../base/command.ts";
import { formatCsv } from "@platform/contract/csv";
import { createUsageError } from "../base/errors.ts";
import { cleanText } from "../base/output.ts";
import { openSession, readAllPages } from "../base/session.ts";

/** `platform usage`: reads all pages before it prints. */
export const usageCommand = defineCommand({
  name: "usage",
  summary: "Show what was used, and what it costs",
  description: [
    "Without options: by day, from the first of this month, what the organisation has used. An execution counts on the day on which it was started (UTC), once it has ended.",
    "'--side provider' shows what subscriptions have used of the organisation's services. There is no payment provider: costs are computed from the plans.",
    "'--csv' is for spreadsheets, with a column for each currency.",
  ],
  arguments: {},
  options: {
    from: { kind: "text", placeholder: "day", description: "First day, YYYY-MM-DD" },
    to: { kind: "text", placeholder: "day", description: "Last day, YYYY-MM-DD; today when it is missing" },
    by: {
      kind: "text",
      placeholder: "what",
      default: "day",
      choices: USAGE_DIMENSIONS,
      description: "What is added up",
    },
    side: {
      kind: "text",
      placeholder: "side",
      default: "consumer",
      choices: USAGE_SIDES,
      description: "The organisation's own use, or that of its services",
    },
    csv: { kind: "flag", description: "Print it for a spreadsheet" },
  },
  examples: [
    { command: "platform usage --by service", comment: "This month, by service" },
    {
      command: "platform usage --from 2026-10-01 --to 2026-10-31 --side provider --by subscription --csv",
      comment: "What subscribers used in October",
    },
  ],
  run: async (context, { options: { from, to, by, side, csv } }) => {
    if (from !== undefined && to !== undefined && from > to)
      throw createUsageError(
        `--from ${cleanText(from)} is after --to ${cleanText(to)}.`,
        "--from is the first day, --to the last one, as YYYY-MM-DD.",
      );
    const { client } = await openSession(context);
    const filter = {
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to }),
      by: choose(USAGE_DIMENSIONS, by) ?? "day",
      side: choose(USAGE_SIDES, side) ?? "consumer",
    };
    const usage = await readAllPages((query) => client.getUsage({ query: { ...query, ...filter } }));
    const { output } = context;
    if (csv) for (const line of formatCsv(toCells(usage))) output.print(line);
    else
      output.printTable([by.toUpperCase(), ...HEADINGS], usage.map(toRow), "Nothing was used on these days.");
    return { json: usage, succeeded: true };
  },
});

/** The parser has checked it against the choices. */
function choose<T extends string>(choices: readonly T[], word: string): T | undefined {
  return choices.find((choice) => choice === word);
}

const HEADINGS = [
  "EXECUTIONS",
  "SUCCEEDED",
  "FAILED",
  "UNKNOWN",
  "NOT CHARGED",
  "CPU-SECONDS",
  "GB-SECONDS",
  "COST",
];
const NUMBERS = [
  "executions",
  "succeeded",
  "failed",
  "unknown",
  "notCharged",
  "cpuSeconds",
  "gbSeconds",
] as const satisfies readonly (keyof Usage)[];

function toRow(usage: Usage): readonly string[] {
  const cost = usage.cost.map(({ amount, currency }) => `${amount} ${currency}`).join(" + ");
  return [cleanText(usage.label), ...NUMBERS.map((name) => String(usage[name])), cost || "-"];
}

function toCells(usages: readonly Usage[]): readonly (readonly string[])[] {
  const currencies = [...new Set(usages.flatMap(({ cost }) => cost.map(({ currency }) => currency)))].sort();
  const header = ["key", "label", ...NUMBERS, ...currencies.map((currency) => `cost ${currency}`)];
  const rows = usages.map((usage) => [
    usage.key,
    usage.label,
    ...NUMBERS.map((name) => String(usage[name])),
    ...currencies.map((currency) => usage.cost.find((money) => money.currency === currency)?.amount ?? "0"),
  ]);
  return [header, ...rows];
}
