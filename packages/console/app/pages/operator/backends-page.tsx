import { Text } from "@mantine/core";
import type { ItemOf } from "../../api/client.ts";
import { pages, useChange, useLoadedPages } from "../../api/queries.ts";
import { ShareBackend } from "../../forms/share-backend.tsx";
import { DataTable } from "../../table/data-table.tsx";
import type { Column } from "../../table/data-table.tsx";
import { ConfirmButton } from "../../ui/confirm.tsx";
import { CopyAs } from "../../ui/copy-as.tsx";
import { RoutedDialog } from "../../ui/dialog.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { OpenButton } from "../../ui/open-button.tsx";
import { Time } from "../../ui/time.tsx";
import { OperatorFrame } from "./operator-frame.tsx";

type SharedBackend = ItemOf<"listPlatformBackends">;

/** Backends that all organisations may use, and other names of these. */
export function SharedBackendsPage() {
  const backends = useLoadedPages(pages("listPlatformBackends", {}));
  const shared = backends.items.filter(({ aliasOf }) => aliasOf === null);
  return (
    <OperatorFrame
      title="Backends"
      description="Backends that all organisations may use. A job of one is its sender's alone: the organisation of the service sees nothing of it."
      actions={
        <>
          <CopyAs op="listPlatformBackends" request={{}} command="platform backends shared" />
          <OpenButton
            op="putPlatformBackend"
            set={{ new: "alias" }}
            unless={shared.length === 0 ? "An alias is another name of a backend that is shared." : null}
            variant="default"
          >
            Add an alias
          </OpenButton>
          <OpenButton op="putPlatformBackend" set={{ new: "backend" }}>
            Share a backend
          </OpenButton>
        </>
      }
    >
      <DataTable
        label="Shared backends"
        columns={COLUMNS}
        rows={backends}
        rowKey={({ id }) => id}
        empty={
          <EmptyState title="No backend is shared" command="platform backends share sim.statevector">
            Each organisation has its own backends. One that is shared is there for all of them, at the cost
            of a process for each that uses it.
          </EmptyState>
        }
      />
      <RoutedDialog title="Share a backend" when={["new", "backend"]}>
        {(close) => <ShareBackend kind="backend" shared={shared} close={close} />}
      </RoutedDialog>
      <RoutedDialog title="Add an alias" when={["new", "alias"]}>
        {(close) => <ShareBackend kind="alias" shared={shared} close={close} />}
      </RoutedDialog>
    </OperatorFrame>
  );
}

const COLUMNS: readonly Column<SharedBackend>[] = [
  {
    id: "id",
    label: "Backend",
    cell: ({ id, aliasOf }) => (
      <>
        <span className="mono">{id}</span>
        {aliasOf !== null && (
          <Text c="dimmed" fz="sm">
            alias of <span className="mono">{aliasOf}</span>
          </Text>
        )}
      </>
    ),
  },
  {
    id: "service",
    label: "Service",
    cell: ({ service }) => (
      <>
        {service.name}
        <Text c="dimmed" fz="sm" style={{ overflowWrap: "anywhere" }}>
          {service.organization}
        </Text>
      </>
    ),
  },
  { id: "version", label: "Version", cell: ({ version }) => version ?? "none is live" },
  { id: "since", label: "Shared", cell: ({ sharedAt }) => <Time at={sharedAt} />, priority: 3 },
  { id: "actions", label: "", align: "end", cell: (backend) => <TakeBack of={backend} /> },
];

function TakeBack({ of: { id, aliasOf } }: { readonly of: SharedBackend }) {
  const isAlias = aliasOf !== null;
  const remove = useChange("deletePlatformBackend", {
    done: isAlias ? "The alias is removed." : "It is shared no more.",
    refresh: ["listPlatformBackends", "listBackends"],
  });
  return (
    <ConfirmButton
      op="deletePlatformBackend"
      label={isAlias ? "Remove" : "Take back"}
      question={isAlias ? `Remove the alias ${id}?` : `Take ${id} back from other organisations?`}
      button={{ size: "compact-sm" }}
      run={() => remove.run({ params: { backendId: id } })}
    >
      {isAlias
        ? "Programs that name it find no backend then. Jobs that were started run to their end."
        : "With its aliases. It stays the backend of its own organisation, and jobs that were started run to their end."}
    </ConfirmButton>
  );
}
