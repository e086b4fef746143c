import { Group, Text, Title } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import type { AnswerOf } from "../../api/client.ts";
import { q, useChange, useLoaded } from "../../api/queries.ts";
import { SetBudget } from "../../forms/set-budget.tsx";
import { DataTable } from "../../table/data-table.tsx";
import type { Column } from "../../table/data-table.tsx";
import { ConfirmButton } from "../../ui/confirm.tsx";
import { RoutedDialog } from "../../ui/dialog.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { OpenButton } from "../../ui/open-button.tsx";
import { formatMoney } from "../../util/money.ts";

type Budget = AnswerOf<"listQuantumBudgets">[number];

const route = getRouteApi("/in/o/$org/settings");

/** What quantum jobs of a month may cost. */
export function Budgets() {
  const budgets = useLoaded(q("listQuantumBudgets", {}));
  const { budget: chosen } = route.useSearch();
  const changing = budgets.find(({ currency }) => currency === chosen);
  return (
    <section>
      <Group justify="space-between" mb={4}>
        <Title order={2} fz="lg">
          Budgets for quantum jobs
        </Title>
        <OpenButton op="putQuantumBudget" set={{ new: "budget" }} size="xs">
          New budget
        </OpenButton>
      </Group>
      <Text c="dimmed" mb="sm">
        What jobs on backends with a price may cost in a month (UTC). A job holds the most that it may cost
        until it has ended; one that finds too little left is refused.
      </Text>
      <DataTable
        label="Budgets for quantum jobs"
        columns={COLUMNS}
        rows={budgets}
        rowKey={({ currency }) => currency}
        empty={
          <EmptyState title="No budgets" command="platform budgets put EUR 100">
            Without one, jobs may cost any amount. Each currency has a budget of its own.
          </EmptyState>
        }
      />
      <RoutedDialog title="New budget" when={["new", "budget"]}>
        {(close) => <SetBudget budgets={budgets} close={close} />}
      </RoutedDialog>
      {changing !== undefined && (
        <RoutedDialog
          title={`Change the budget in ${changing.currency}`}
          when={["budget", changing.currency]}
        >
          {(close) => <SetBudget budget={changing} budgets={budgets} close={close} />}
        </RoutedDialog>
      )}
    </section>
  );
}

const toCell = (part: "amount" | "spent" | "held" | "left") => (budget: Budget) =>
  formatMoney([{ amount: budget[part], currency: budget.currency }]);

const COLUMNS: readonly Column<Budget>[] = [
  { id: "currency", label: "Currency", cell: ({ currency }) => currency },
  { id: "amount", label: "A month", align: "end", cell: toCell("amount") },
  { id: "month", label: "Counted", cell: ({ month }) => month, priority: 3 },
  { id: "spent", label: "Spent", align: "end", cell: toCell("spent") },
  { id: "held", label: "Held", align: "end", cell: toCell("held") },
  { id: "left", label: "Left", align: "end", cell: toCell("left") },
  { id: "actions", label: "", align: "end", cell: (budget) => <Actions of={budget} /> },
];

function Actions({ of: { currency } }: { readonly of: Budget }) {
  const remove = useChange("deleteQuantumBudget", {
    done: "Budget removed.",
    refresh: ["listQuantumBudgets"],
  });
  return (
    <Group gap={6} justify="flex-end" wrap="nowrap">
      <OpenButton op="putQuantumBudget" set={{ budget: currency }} variant="default" size="compact-sm">
        Change
      </OpenButton>
      <ConfirmButton
        op="deleteQuantumBudget"
        label="Remove"
        question={`Remove the budget in ${currency}?`}
        button={{ size: "compact-sm" }}
        run={() => remove.run({ params: { currency } })}
      >
        Jobs that are paid for in {currency} may cost any amount then.
      </ConfirmButton>
    </Group>
  );
}
