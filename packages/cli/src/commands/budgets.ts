import { AMOUNT_PATTERN } from "@platform/contract/quantum-api/price";
import { defineCommand } from "../base/command.ts";
import type { CommandContext } from "../base/context.ts";
import { createUsageError } from "../base/errors.ts";
import { openSession } from "../base/session.ts";
import type { Session } from "../base/session.ts";

type Budget = Awaited<ReturnType<Session["quantum"]["putQuantumBudget"]>>;

const CURRENCY = { description: "Code of the currency, such as EUR", required: true } as const;

/** `platform budgets`: what is left of each this month. */
export const listBudgetsCommand = defineCommand({
  name: "budgets ls",
  isDefault: true,
  summary: "List what quantum jobs of the organisation may cost in a month",
  description: [
    "By currency. SPENT is what jobs of the month that have ended have cost, HELD what those that have not may cost at most.",
  ],
  arguments: {},
  options: {},
  examples: [{ command: "platform budgets", comment: "A table" }],
  run: async (context) => {
    const { quantum } = await openSession(context);
    const budgets = await quantum.listQuantumBudgets({});
    printBudgets(context, budgets);
    return { json: budgets, succeeded: true };
  },
});

/** `platform budgets put`. */
export const putBudgetCommand = defineCommand({
  name: "budgets put",
  summary: "Set what quantum jobs of the organisation may cost in a month, in a currency",
  description: [
    "For owners. Holds for jobs that are started from now on, by everybody and by services: one that may cost more than what is left is refused.",
  ],
  arguments: {
    currency: CURRENCY,
    amount: { description: "For a month (UTC), such as 250", required: true },
  },
  options: {},
  examples: [{ command: "platform budgets put EUR 250", comment: "250 EUR a month" }],
  run: async (context, { arguments: { currency, amount } }) => {
    if (!new RegExp(AMOUNT_PATTERN, "u").test(amount))
      throw createUsageError(
        "The amount is a decimal number of nine digits before and nine behind the point at most, such as 250.",
      );
    const { quantum } = await openSession(context);
    const budget = await quantum.putQuantumBudget({
      params: { currency: readCurrency(currency) },
      body: { amount },
    });
    printBudgets(context, [budget]);
    return { json: budget, succeeded: true };
  },
});

/** `platform budgets rm`. */
export const removeBudgetCommand = defineCommand({
  name: "budgets rm",
  summary: "Remove the budget for quantum jobs in a currency",
  description: [
    "For owners. Jobs in this currency may cost any amount then, and are counted in case it is set again.",
  ],
  arguments: { currency: CURRENCY },
  options: {},
  examples: [{ command: "platform budgets rm EUR", comment: "By its currency" }],
  run: async (context, { arguments: { currency } }) => {
    const { quantum } = await openSession(context);
    await quantum.deleteQuantumBudget({ params: { currency: readCurrency(currency) } });
    context.output.print(`There is no budget in ${currency} any more.`);
    return { json: { currency }, succeeded: true };
  },
});

function readCurrency(text: string): string {
  if (/^[A-Z]{3}$/u.test(text)) return text;
  throw createUsageError("Name the currency by its code of three capital letters, such as EUR.");
}

function printBudgets({ output }: CommandContext, budgets: readonly Budget[]): void {
  output.printTable(
    ["CURRENCY", "MONTH", "BUDGET", "SPENT", "HELD", "LEFT"],
    budgets.map(({ currency, month, amount, spent, held, left }) => [
      currency,
      month,
      amount,
      spent,
      held,
      left,
    ]),
    "No budgets: quantum jobs may cost any amount. 'platform budgets put EUR 250' sets one.",
  );
}
