import { Group, Stack, Text, Title } from "@mantine/core";
import { pages, useChange, useLoadedPages } from "../../api/queries.ts";
import type { ItemOf } from "../../api/client.ts";
import { SetVariable } from "../../forms/set-variable.tsx";
import { DataTable } from "../../table/data-table.tsx";
import type { Column } from "../../table/data-table.tsx";
import { ConfirmButton } from "../../ui/confirm.tsx";
import { RoutedDialog } from "../../ui/dialog.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { OpenButton } from "../../ui/open-button.tsx";
import { ALL_VARIABLES } from "../../util/all-variables.ts";
import { Changed } from "../settings/changed.tsx";

type Variable = ItemOf<"listVariables">;
type Secret = ItemOf<"listSecrets">;

interface ServiceVariablesProps {
  readonly serviceKey: string;
  /** The variable or secret that gets another value, of the URL: `variable:NAME`. */
  readonly setting: string | undefined;
}

/** What runs of the service find in their environment. */
export function ServiceVariables(props: ServiceVariablesProps) {
  return (
    <Stack gap="xl">
      <PlainVariables {...props} />
      <Secrets {...props} />
    </Stack>
  );
}

function toSetting(kind: "variable" | "secret", name: string): string {
  return `${kind}:${name}`;
}

const NewVariable = () => (
  <OpenButton op="putVariable" set={{ new: "variable" }} size="xs">
    New variable
  </OpenButton>
);

const NewSecret = () => (
  <OpenButton op="putSecret" set={{ new: "secret" }} size="xs">
    New secret
  </OpenButton>
);

function PlainVariables({ serviceKey, setting }: ServiceVariablesProps) {
  const variables = useLoadedPages(
    pages("listVariables", { params: { key: serviceKey }, query: ALL_VARIABLES }),
  );
  const changing = variables.items.find(({ name }) => setting === toSetting("variable", name));
  return (
    <section>
      <Group justify="space-between" mb="sm">
        <Title order={2} fz="lg">
          Variables
        </Title>
        {variables.items.length > 0 && <NewVariable />}
      </Group>
      <DataTable
        label="Variables"
        columns={createVariableColumns(serviceKey)}
        rows={variables}
        rowKey={({ name }) => name}
        empty={
          <EmptyState
            title="No variables"
            action={<NewVariable />}
            command={`platform variables set NAME --service ${serviceKey}`}
          >
            Runs find them in their environment. Members read their values, and logs may show them.
          </EmptyState>
        }
      />
      <RoutedDialog title="New variable" when={["new", "variable"]}>
        {(close) => (
          <SetVariable kind="variable" serviceKey={serviceKey} taken={variables.items} close={close} />
        )}
      </RoutedDialog>
      {changing !== undefined && (
        <RoutedDialog title={`Change ${changing.name}`} when={["set", toSetting("variable", changing.name)]}>
          {(close) => (
            <SetVariable
              kind="variable"
              serviceKey={serviceKey}
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

function Secrets({ serviceKey, setting }: ServiceVariablesProps) {
  const secrets = useLoadedPages(pages("listSecrets", { params: { key: serviceKey }, query: ALL_VARIABLES }));
  const replaced = secrets.items.find(({ name }) => setting === toSetting("secret", name))?.name;
  return (
    <section>
      <Group justify="space-between" mb="sm">
        <Title order={2} fz="lg">
          Secrets
        </Title>
        {secrets.items.length > 0 && <NewSecret />}
      </Group>
      <DataTable
        label="Secrets"
        columns={createSecretColumns(serviceKey)}
        rows={secrets}
        rowKey={({ name }) => name}
        empty={
          <EmptyState
            title="No secrets"
            action={<NewSecret />}
            command={`platform secrets set NAME --service ${serviceKey}`}
          >
            Runs find them in their environment as well. Nobody can read their values, and what runs print is
            stored without them.
          </EmptyState>
        }
      />
      <RoutedDialog title="New secret" when={["new", "secret"]}>
        {(close) => <SetVariable kind="secret" serviceKey={serviceKey} taken={secrets.items} close={close} />}
      </RoutedDialog>
      {replaced !== undefined && (
        <RoutedDialog title={`Replace ${replaced}`} when={["set", toSetting("secret", replaced)]}>
          {(close) => (
            <SetVariable
              kind="secret"
              serviceKey={serviceKey}
              name={replaced}
              taken={secrets.items}
              close={close}
            />
          )}
        </RoutedDialog>
      )}
    </section>
  );
}

const NAME_COLUMN: Column<Secret> = {
  id: "name",
  label: "Name",
  cell: ({ name }) => <span className="mono">{name}</span>,
};

const CHANGED_COLUMN: Column<Secret> = {
  id: "changed",
  label: "Set",
  cell: (one) => <Changed of={one} />,
  priority: 3,
};

function createVariableColumns(key: string): readonly Column<Variable>[] {
  return [
    NAME_COLUMN,
    {
      id: "value",
      label: "Value",
      cell: ({ value }) =>
        value === "" ? (
          <Text span inherit c="dimmed">
            empty
          </Text>
        ) : (
          <span className="mono" style={{ overflowWrap: "anywhere" }}>
            {value}
          </span>
        ),
    },
    CHANGED_COLUMN,
    {
      id: "actions",
      label: "",
      align: "end",
      cell: ({ name }) => <Actions kind="variable" serviceKey={key} name={name} />,
    },
  ];
}

function createSecretColumns(key: string): readonly Column<Secret>[] {
  return [
    NAME_COLUMN,
    CHANGED_COLUMN,
    {
      id: "actions",
      label: "",
      align: "end",
      cell: ({ name }) => <Actions kind="secret" serviceKey={key} name={name} />,
    },
  ];
}

interface ActionsProps {
  readonly kind: "variable" | "secret";
  readonly serviceKey: string;
  readonly name: string;
}

function Actions({ kind, serviceKey: key, name }: ActionsProps) {
  const removeVariable = useChange("deleteVariable", { done: "Deleted.", refresh: ["listVariables"] });
  const removeSecret = useChange("deleteSecret", { done: "Deleted.", refresh: ["listSecrets"] });
  const remove = kind === "secret" ? removeSecret : removeVariable;
  return (
    <Group gap={6} justify="flex-end" wrap="nowrap">
      <OpenButton
        op={kind === "secret" ? "putSecret" : "putVariable"}
        set={{ set: toSetting(kind, name) }}
        size="compact-sm"
        variant="default"
      >
        {kind === "secret" ? "Replace" : "Change"}
      </OpenButton>
      <ConfirmButton
        op={kind === "secret" ? "deleteSecret" : "deleteVariable"}
        label="Delete"
        question={`Delete ${name}?`}
        button={{ size: "compact-sm" }}
        run={() => remove.run({ params: { key, name } })}
      >
        Runs that begin seconds later do not have it, unless the organisation has one of this name.
      </ConfirmButton>
    </Group>
  );
}
