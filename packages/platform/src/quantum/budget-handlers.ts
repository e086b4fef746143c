import { Problem } from "@platform/contract/problems";
import type { BUDGETS_API } from "@platform/contract/quantum-api/budgets";
import { AMOUNT_DECIMALS } from "@platform/contract/quantum-api/price";
import type { OperationHandlers } from "@platform/engine/http/types";
import type { PlatformCaller } from "../api/caller.ts";
import { formatDecimal, parseAmount } from "../base/decimal.ts";
import type { QuantumBudgetStore } from "../store/quantum-budgets.ts";

/** Handlers of budgets for quantum jobs. */
export function createBudgetHandlers(
  budgets: QuantumBudgetStore,
): OperationHandlers<typeof BUDGETS_API, PlatformCaller> {
  return {
    listQuantumBudgets: async ({ caller }) => ({
      status: 200,
      body: [...(await budgets.list(caller.organisationId))],
    }),
    putQuantumBudget: async ({ caller, params, body }) => {
      const amount = parseAmount(body.amount);
      if (amount === null)
        throw new Problem(
          "INVALID_INPUT",
          `amount has more than ${AMOUNT_DECIMALS} digits behind the point.`,
        );
      const key = { organisationId: caller.organisationId, currency: params.currency };
      await budgets.put(key, formatDecimal(amount));
      const budget = await budgets.find(key);
      if (budget === null) throw new Problem("CONFLICT", "The budget was removed meanwhile.");
      return { status: 200, body: budget };
    },
    deleteQuantumBudget: async ({ caller, params }) => {
      const { organisationId } = caller;
      const isRemoved = await budgets.delete({ organisationId, currency: params.currency });
      if (!isRemoved) throw new Problem("NOT_FOUND", `The organisation has no budget in ${params.currency}.`);
      return { status: 204 };
    },
  };
}
