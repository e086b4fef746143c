import { Group, Text, Title } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import type { ItemOf } from "../../api/client.ts";
import { pages, useChange, useLoadedPages } from "../../api/queries.ts";
import { SetVariable } from "../../forms/set-variable.tsx";
import { DataTable } from "../../table/data-table.tsx";
import type { Column } from "../../table/data-table.tsx";
import { ConfirmButton } from "../../ui/confirm.tsx";
import { RoutedDialog } from "../../ui/dialog.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { OpenButton } from "../../ui/open-button.tsx";
import { ALL_VARIABLES } from "../../util/all-variables.ts";
import { Changed } from "./changed.tsx";

type Variable = ItemOf<"listOrganizationVariables">;

const route = getRouteApi("/in/o/$org/settings");

/** Variables of the organisation, with their values. */
export function Variables() {
  const variables = useLoadedPages(pages("listOrganizationVariables", { query: ALL_VARIABLES }));
  const { variable: chosen } = route.useSearch();
  const changing = variables.items.find(({ name }) => name === chosen);
  return (
    <section>
      <Group justify="space-between" mb={4}>
        <Title order={2} fz="lg">
          Variables
        </Title>
        <OpenButton op="putOrganizationVariable" set={{ new: "variable" }} size="xs">
          New variable
        </OpenButton>
      </Group>
      <Text c="dimmed" mb="sm">
        Runs of all services of the organisation have them in their environment, seconds after they are set
        and without a new version.
      </Text>
      <DataTable
        label="Variables"
        columns={COLUMNS}
        rows={variables}
        rowKey={({ name }) => name}
        empty={
          <EmptyState title="No variables" command="platform variables set QPU_REGION eu-1 --organization">
            What all services of the organisation share and everybody may read, such as the region of a
            backend. A service can have its own of the same name.
          </EmptyState>
        }
      />
      <RoutedDialog title="New variable" when={["new", "variable"]}>
        {(close) => <SetVariable kind="variable" taken={variables.items} close={close} />}
      </RoutedDialog>
      {changing !== undefined && (
        <RoutedDialog title={`Change ${changing.name}`} when={["variable", changing.name]}>
          {(close) => (
            <SetVariable
              kind="variable"
              name={changing.name}
              taken={variables.items}
              value={changing.value}
              close={close}
            />
          )}
        </RoutedDialog>
      )}
    </section>
  );
}

const COLUMNS: readonly Column<Variable>[] = [
  { id: "name", label: "Name", cell: ({ name }) => <span className="mono">{name}</span> },
  {
    id: "value",
    label: "Value",
    cell: ({ value }) => (
      <Text fz="sm" className="mono" lineClamp={3} title={value} style={{ whiteSpace: "pre-wrap" }}>
        {value}
      </Text>
    ),
  },
  { id: "changed", label: "Changed", cell: (variable) => <Changed of={variable} />, priority: 3 },
  { id: "actions", label: "", align: "end", cell: (variable) => <Actions of={variable} /> },
];

function Actions({ of: { name } }: { readonly of: Variable }) {
  const remove = useChange("deleteOrganizationVariable", {
    done: "Variable deleted.",
    refresh: ["listOrganizationVariables"],
  });
  return (
    <Group gap={6} justify="flex-end" wrap="nowrap">
      <OpenButton op="putOrganizationVariable" set={{ variable: name }} variant="default" size="compact-sm">
        Change
      </OpenButton>
      <ConfirmButton
        op="deleteOrganizationVariable"
        label="Delete"
        question={`Delete the variable ${name}?`}
        button={{ size: "compact-sm" }}
        run={() => remove.run({ params: { name } })}
      >
        Runs that begin seconds later do not have it. Services that read it may fail.
      </ConfirmButton>
    </Group>
  );
}
