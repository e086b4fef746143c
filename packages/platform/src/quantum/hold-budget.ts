import { Problem } from "@platform/contract/problems";
import { SECOND } from "@platform/engine/base/time";
import type { ExecutionRecord } from "@platform/engine/store/execution-store";
import { createUuidV7 } from "@platform/engine/base/uuid";
import type { QuantumBudgetStore } from "../store/quantum-budgets.ts";
import { describeCharge } from "../store/quantum-costs.ts";
import type { JobTerms } from "../store/quantum-costs.ts";
import { explainBound } from "./price.ts";

/** Which budget holds what a job may cost. */
interface Held {
  readonly budgets: Pick<QuantumBudgetStore, "hold" | "release" | "find">;
  readonly organisationId: string;
  /** Null: it costs nothing, or nothing is counted. */
  readonly terms: JobTerms | null;
}

/**
 * Starts a job whose bound its organisation's budget holds, by an id that both know it by.
 *
 * @throws Problem QUOTA_EXCEEDED, and what `start` throws
 */
export async function startWithinBudget(
  { budgets, organisationId, terms }: Held,
  start: (id: string) => Promise<ExecutionRecord>,
): Promise<ExecutionRecord> {
  const executionId = createUuidV7();
  if (terms === null) return await start(executionId);
  const { currency, timeoutSeconds } = terms;
  const charge = {
    executionId,
    organisationId,
    currency,
    timeoutSeconds,
    ...describeCharge(terms),
  };
  if (!(await budgets.hold(charge))) throw await refuse(budgets, organisationId, terms, charge.bound);
  try {
    const started = await start(executionId);
    if (started.isRepeated === true) await budgets.release(executionId);
    return started;
  } catch (error) {
    // Of other errors it is unknown whether it was started: the job, or that there is none, decides.
    if (error instanceof Problem && error.code !== "INTERNAL_ERROR") await budgets.release(executionId);
    throw error;
  }
}

async function refuse(
  budgets: Pick<QuantumBudgetStore, "find">,
  organisationId: string,
  terms: JobTerms,
  bound: string,
): Promise<Problem> {
  const { currency } = terms;
  const budget = await budgets.find({ organisationId, currency });
  const now = new Date();
  const renewsAt = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
  const state =
    budget === null
      ? ""
      : ` The budget for quantum jobs is ${budget.amount} ${currency} a month: ${budget.spent} are spent, and ${budget.held} are held by jobs that have not ended.`;
  return new Problem(
    "QUOTA_EXCEEDED",
    `The job may cost up to ${bound} ${currency}${explainBound(terms)}, which is more than what is left.${state} Nothing has run.`,
    { headers: { "retry-after": String(Math.max(1, Math.ceil((renewsAt - now.getTime()) / SECOND))) } },
  );
}
