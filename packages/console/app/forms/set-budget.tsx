import { Type } from "typebox";
import { BUDGETS_API } from "@platform/contract/quantum-api/budgets";
import { AMOUNT_PATTERN } from "@platform/contract/quantum-api/price";
import type { AnswerOf } from "../api/client.ts";
import { useChange } from "../api/queries.ts";
import { formatMoney } from "../util/money.ts";
import { TextField } from "./fields.tsx";
import { SchemaBackedForm } from "./schema-backed-form.tsx";

const { params } = BUDGETS_API.putQuantumBudget;

/** The form asks for the currency as well, which the operation takes from the path. */
const FORM = Type.Object({
  ...params.properties,
  amount: Type.String({ pattern: AMOUNT_PATTERN }),
});

type Budget = AnswerOf<"listQuantumBudgets">[number];

interface Values {
  readonly currency: string;
  readonly amount: string;
}

interface SetBudgetProps {
  /** The one that is changed; absent: a new one. */
  readonly budget?: Budget;
  /** Those that there are: a new one takes the place of none of them. */
  readonly budgets: readonly Budget[];
  readonly close: () => void;
}

/** What quantum jobs of a month may cost in a currency. */
export function SetBudget({ budget, budgets, close }: SetBudgetProps) {
  const put = useChange("putQuantumBudget", {
    done: budget === undefined ? "Budget set." : "Budget changed.",
    refresh: ["listQuantumBudgets"],
  });
  return (
    <SchemaBackedForm<Values>
      schema={FORM}
      initial={{ currency: budget?.currency ?? "", amount: budget?.amount ?? "" }}
      check={({ currency }) => (budget === undefined ? findTaken(budgets, currency) : {})}
      submitLabel="Set"
      submit={({ currency, amount }) => put.run({ params: { currency }, body: { amount } })}
      onDone={close}
      onCancel={close}
    >
      {budget === undefined && (
        <TextField
          name="currency"
          label="Currency"
          description="Its code of three capital letters, as prices of backends have it"
          placeholder="EUR"
          isMonospaced
          hasFocus
        />
      )}
      <TextField
        name="amount"
        label="Amount of a month"
        description="Jobs that are started from now on count, and what those of this month have cost since there is a budget"
        placeholder="100"
        hasFocus={budget !== undefined}
      />
    </SchemaBackedForm>
  );
}

function findTaken(budgets: readonly Budget[], wanted: string): Readonly<Record<string, string>> {
  const taken = budgets.find(({ currency }) => currency === wanted);
  if (taken === undefined) return {};
  const amount = formatMoney([taken]);
  return {
    currency: `There is a budget of ${amount} a month already: "Change" in its row sets another amount`,
  };
}
