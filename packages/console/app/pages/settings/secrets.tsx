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

type Secret = ItemOf<"listOrganizationSecrets">;

const route = getRouteApi("/in/o/$org/settings");

/** Secrets of the organisation: their names alone, since nobody can read a value again. */
export function Secrets() {
  const secrets = useLoadedPages(pages("listOrganizationSecrets", { query: ALL_VARIABLES }));
  const { secret: chosen } = route.useSearch();
  const changing = secrets.items.find(({ name }) => name === chosen);
  return (
    <section>
      <Group justify="space-between" mb={4}>
        <Title order={2} fz="lg">
          Secrets
        </Title>
        <OpenButton op="putOrganizationSecret" set={{ new: "secret" }} size="xs">
          New secret
        </OpenButton>
      </Group>
      <Text c="dimmed" mb="sm">
        Like variables, but their values can be set and replaced only, never read. What a run prints is stored
        with <span className="mono">[secret]</span> in their place.
      </Text>
      <DataTable
        label="Secrets"
        columns={COLUMNS}
        rows={secrets}
        rowKey={({ name }) => name}
        empty={
          <EmptyState title="No secrets" command="platform secrets set QPU_API_KEY --organization">
            Credentials that all services of the organisation share, such as the key of a backend.
          </EmptyState>
        }
      />
      <RoutedDialog title="New secret" when={["new", "secret"]}>
        {(close) => <SetVariable kind="secret" taken={secrets.items} close={close} />}
      </RoutedDialog>
      {changing !== undefined && (
        <RoutedDialog title={`Replace ${changing.name}`} when={["secret", changing.name]}>
          {(close) => <SetVariable kind="secret" name={changing.name} taken={secrets.items} close={close} />}
        </RoutedDialog>
      )}
    </section>
  );
}

const COLUMNS: readonly Column<Secret>[] = [
  { id: "name", label: "Name", cell: ({ name }) => <span className="mono">{name}</span> },
  { id: "changed", label: "Set", cell: (secret) => <Changed of={secret} /> },
  { id: "actions", label: "", align: "end", cell: (secret) => <Actions of={secret} /> },
];

function Actions({ of: { name } }: { readonly of: Secret }) {
  const remove = useChange("deleteOrganizationSecret", {
    done: "Secret deleted.",
    refresh: ["listOrganizationSecrets"],
  });
  return (
    <Group gap={6} justify="flex-end" wrap="nowrap">
      <OpenButton op="putOrganizationSecret" set={{ secret: name }} variant="default" size="compact-sm">
        Replace
      </OpenButton>
      <ConfirmButton
        op="deleteOrganizationSecret"
        label="Delete"
        question={`Delete the secret ${name}?`}
        button={{ size: "compact-sm" }}
        run={() => remove.run({ params: { name } })}
      >
        Runs that begin seconds later do not have it. Services that read it may fail.
      </ConfirmButton>
    </Group>
  );
}
