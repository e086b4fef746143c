import type { Plan } from "@platform/contract/platform-api/plans";
import { describePriceBeside } from "./plan-words.ts";

type Offer = Pick<
  Plan,
  "id" | "name" | "revision" | "currency" | "monthly" | "perExecution" | "perCpuSecond"
>;

/** The plan stays as it is. No plan has this identifier: they have two characters at least. */
export const KEPT = "-";

/** What the plan of a subscription can be changed to, and first that it stays: also where other terms of it are offered by now. */
export function listPlanChoices(
  plan: Offer,
  offered: readonly Offer[],
): readonly { readonly value: string; readonly label: string }[] {
  const present = offered.find(({ id }) => id === plan.id);
  const others = offered.filter(({ id, revision }) => id !== plan.id || revision !== plan.revision);
  const remark =
    present === undefined
      ? " (no longer offered)"
      : present.revision === plan.revision
        ? ""
        : " (the terms so far)";
  return [
    { value: KEPT, label: `${describe(plan)}${remark}` },
    ...others.map((one) => ({
      value: one.id,
      label: `${describe(one)}${one === present ? " (the terms of today)" : ""}`,
    })),
  ];
}

function describe(plan: Offer): string {
  return [plan.name, describePriceBeside(plan)].filter(Boolean).join(": ");
}
