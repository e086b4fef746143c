import { Group, Stack, Text } from "@mantine/core";
import type { Plan } from "@platform/contract/platform-api/plans";
import { pages, useChange, useLoadedPages } from "../../api/queries.ts";
import { PutPlanForm } from "../../forms/put-plan.tsx";
import { DataTable } from "../../table/data-table.tsx";
import type { Column } from "../../table/data-table.tsx";
import { ConfirmButton } from "../../ui/confirm.tsx";
import { RoutedDialog } from "../../ui/dialog.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { OpenButton } from "../../ui/open-button.tsx";
import { describePrice, listLimits } from "../../util/plan-words.ts";

const NewPlan = () => (
  <OpenButton op="putPlan" set={{ new: "plan" }} size="xs">
    New plan
  </OpenButton>
);

interface ServicePlansProps {
  readonly serviceKey: string;
  /** The plan whose terms are about to change, of the URL. */
  readonly changing: string | undefined;
}

/** On which terms others can subscribe. */
export function ServicePlans({ serviceKey, changing }: ServicePlansProps) {
  const plans = useLoadedPages(pages("listPlans", { params: { key: serviceKey } }));
  const changed = plans.items.find(({ id }) => id === changing);
  return (
    <>
      {plans.items.length > 0 && (
        <Group justify="flex-end" mb="sm">
          <NewPlan />
        </Group>
      )}
      <DataTable
        label="Plans"
        columns={createColumns(serviceKey)}
        rows={plans}
        rowKey={({ id }) => id}
        empty={
          <EmptyState title="No plans" action={<NewPlan />} command={`platform plans put PLAN ${serviceKey}`}>
            Applications of this organisation need none; others subscribe to a plan. Publishing in the
            marketplace makes a free one where there is none.
          </EmptyState>
        }
      />
      <RoutedDialog title="New plan" when={["new", "plan"]} width={640}>
        {(close) => <PutPlanForm serviceKey={serviceKey} plan={null} close={close} />}
      </RoutedDialog>
      {changed !== undefined && (
        <RoutedDialog title={`Terms of ${changed.name}`} when={["plan", changed.id]} width={640}>
          {(close) => <PutPlanForm serviceKey={serviceKey} plan={changed} close={close} />}
        </RoutedDialog>
      )}
    </>
  );
}

function createColumns(serviceKey: string): readonly Column<Plan>[] {
  return [
    { id: "name", label: "Plan", cell: ({ name, id }) => (name === id ? name : `${name} (${id})`) },
    { id: "price", label: "Price", cell: describePrice },
    { id: "limits", label: "Limits", cell: (plan) => <Limits of={plan} /> },
    { id: "revision", label: "Revision", cell: ({ revision }) => revision, align: "end", priority: 3 },
    {
      id: "actions",
      label: "",
      align: "end",
      cell: (plan) => <PlanActions serviceKey={serviceKey} plan={plan} />,
    },
  ];
}

function Limits({ of: plan }: { readonly of: Plan }) {
  const lines = listLimits(plan);
  if (lines.length === 0) return <>none but the platform's</>;
  return (
    <Stack gap={0}>
      {lines.map((line) => (
        <Text key={line} fz="sm">
          {line}
        </Text>
      ))}
    </Stack>
  );
}

function PlanActions({ serviceKey: key, plan }: { readonly serviceKey: string; readonly plan: Plan }) {
  const archive = useChange("archivePlan", {
    done: "Plan withdrawn.",
    refresh: ["listPlans", "getMarketplaceEntry", "listMarketplace"],
  });
  return (
    <Group gap={6} justify="flex-end" wrap="nowrap">
      <OpenButton op="putPlan" set={{ plan: plan.id }} size="compact-sm" variant="default">
        Change
      </OpenButton>
      <ConfirmButton
        op="archivePlan"
        label="Withdraw"
        question={`Withdraw the plan ${plan.name}?`}
        button={{ size: "compact-sm" }}
        run={() => archive.run({ params: { key, planId: plan.id } })}
      >
        It takes no new subscriptions. Those that have it keep it.
      </ConfirmButton>
    </Group>
  );
}
