import { Type } from "typebox";
import { READS, REMOVES, WRITES } from "../operation-rows.ts";
import type { OperationTable } from "../operation.ts";
import { Amount, Currency, GivenAmount } from "./price.ts";

const BudgetSchema = Type.Object(
  {
    currency: Currency,
    amount: Amount("What jobs of a month may cost together"),
    month: Type.String({ description: "The month that is counted, UTC", examples: ["2026-11"] }),
    spent: Amount("What those of the month that have ended have cost"),
    held: Amount("What those that have not ended may cost at most"),
    left: Amount("What is left; 0 also where the budget was made smaller than what is spent"),
  },
  { title: "QuantumBudget", description: "What quantum jobs of a month may cost in a currency" },
);
const CurrencyParams = Type.Object({ currency: Currency });

/** Operations on budgets: what quantum jobs of an organisation may cost in a month. */
export const BUDGETS_API = {
  listQuantumBudgets: {
    ...READS,
    path: "/budgets",
    summary: "List the budgets for quantum jobs",
    description: "By currency: what is spent of each this month, and what jobs that have not ended hold.",
    responses: {
      200: { description: "The budgets", schema: Type.Array(BudgetSchema, { description: "By currency" }) },
    },
  },
  putQuantumBudget: {
    ...WRITES,
    method: "PUT",
    path: "/budgets/{currency}",
    allows: "administer",
    audit: "quantum-budget.put",
    summary: "Set the budget for quantum jobs in a currency",
    description:
      "Holds for jobs that are started from now on: one that may cost more than what is left of the month is refused with 429 QUOTA_EXCEEDED. What was started before the first budget of the currency does not count; what was started while a budget was removed does.",
    params: CurrencyParams,
    body: Type.Object(
      { amount: GivenAmount("What jobs of a month may cost together") },
      { additionalProperties: false, title: "QuantumBudgetRequest", description: "A budget" },
    ),
    responses: { 200: { description: "The budget", schema: BudgetSchema } },
  },
  deleteQuantumBudget: {
    ...REMOVES,
    path: "/budgets/{currency}",
    allows: "administer",
    audit: "quantum-budget.delete",
    summary: "Remove the budget for quantum jobs in a currency",
    description:
      "Jobs in this currency may cost any amount then. What they cost is still counted: a budget that is set again in the same month has it as `spent`.",
    params: CurrencyParams,
    responses: { 204: { description: "It is removed" } },
    problems: ["NOT_FOUND"],
  },
} as const satisfies OperationTable;
