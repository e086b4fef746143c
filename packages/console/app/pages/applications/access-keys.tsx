import { Badge, Group } from "@mantine/core";
import { useState } from "react";
import type { AnswerOf, ItemOf } from "../../api/client.ts";
import { pages, useChange, useLoadedPages } from "../../api/queries.ts";
import { CreateAccessKey } from "../../forms/create-access-key.tsx";
import { RotateAccessKey } from "../../forms/rotate-access-key.tsx";
import { DataTable } from "../../table/data-table.tsx";
import type { Column } from "../../table/data-table.tsx";
import { ConfirmButton } from "../../ui/confirm.tsx";
import { CopyLine } from "../../ui/copy-button.tsx";
import { RoutedDialog } from "../../ui/dialog.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { OpenButton } from "../../ui/open-button.tsx";
import { SecretOnce } from "../../ui/secret-once.tsx";
import { Time, useNow } from "../../ui/time.tsx";
import { isUsable } from "../../util/access-keys.ts";

type AccessKey = ItemOf<"listAccessKeys">;
type CreatedKey = AnswerOf<"createAccessKey">;

const NewKey = () => (
  <OpenButton op="createAccessKey" set={{ new: "key" }} size="xs">
    New key
  </OpenButton>
);

interface AccessKeysProps {
  readonly applicationId: string;
  /** The key that is about to be rotated, of the URL. */
  readonly rotating: string | undefined;
}

/** The keys of an application. A secret is held by this part alone, until its dialog closes. */
export function AccessKeys({ applicationId, rotating }: AccessKeysProps) {
  const keys = useLoadedPages(pages("listAccessKeys", { params: { id: applicationId } }));
  const [created, setCreated] = useState<CreatedKey | null>(null);
  const show = (close: () => void) => (key: CreatedKey) => {
    close();
    setCreated(key);
  };
  return (
    <>
      {keys.items.length > 0 && (
        <Group justify="flex-end" mb="sm">
          <NewKey />
        </Group>
      )}
      <DataTable
        label="Access keys"
        columns={createColumns(applicationId)}
        rows={keys}
        rowKey={({ keyId }) => keyId}
        empty={
          <EmptyState
            title="No access keys"
            action={<NewKey />}
            command={`platform keys create ${applicationId}`}
          >
            A key id and its secret are exchanged for access tokens, with which services are called.
          </EmptyState>
        }
      />
      <RoutedDialog title="New access key" when={["new", "key"]}>
        {(close) => (
          <CreateAccessKey applicationId={applicationId} onCreated={show(close)} onCancel={close} />
        )}
      </RoutedDialog>
      {rotating !== undefined && (
        <RoutedDialog title="Rotate the access key" when={["rotate", rotating]}>
          {(close) => (
            <RotateAccessKey
              applicationId={applicationId}
              keyId={rotating}
              onCreated={show(close)}
              onCancel={close}
            />
          )}
        </RoutedDialog>
      )}
      <SecretOnce
        title="The new access key"
        secrets={
          created && [
            { label: "Key id", variable: "PLATFORM_ACCESS_KEY_ID", value: created.keyId },
            { label: "Secret", variable: "PLATFORM_ACCESS_KEY_SECRET", value: created.secret },
          ]
        }
        onClose={() => setCreated(null)}
      />
    </>
  );
}

function createColumns(applicationId: string): readonly Column<AccessKey>[] {
  return [
    { id: "id", label: "Key id", cell: ({ keyId }) => <CopyLine text={keyId} what="key id" /> },
    { id: "name", label: "Name", cell: ({ name }) => (name === "" ? "-" : name) },
    { id: "state", label: "State", cell: (key) => <KeyState of={key} /> },
    {
      id: "used",
      label: "Last used",
      cell: ({ lastUsedAt }) => <Time at={lastUsedAt} none="not yet" />,
      priority: 3,
    },
    { id: "created", label: "Created", cell: ({ createdAt }) => <Time at={createdAt} />, priority: 3 },
    {
      id: "actions",
      label: "",
      align: "end",
      cell: (key) => <KeyActions of={key} applicationId={applicationId} />,
    },
  ];
}

function KeyState({ of: key }: { readonly of: AccessKey }) {
  const now = useNow();
  if (key.revokedAt !== null) return <Badge>Revoked</Badge>;
  if (!isUsable(key, now)) return <Badge>Expired</Badge>;
  return (
    <Group gap={6}>
      <Badge>{key.replacedBy === null ? "Active" : "Replaced"}</Badge>
      {key.expiresAt !== null && (
        <span>
          until <Time at={key.expiresAt} as="exact" />
        </span>
      )}
    </Group>
  );
}

function KeyActions({ of: key, applicationId }: { readonly of: AccessKey; readonly applicationId: string }) {
  const revoke = useChange("revokeAccessKey", { done: "Key revoked.", refresh: ["listAccessKeys"] });
  const now = useNow();
  if (!isUsable(key, now)) return null;
  return (
    <Group gap={6} justify="flex-end" wrap="nowrap">
      {key.replacedBy === null && (
        <OpenButton op="rotateAccessKey" set={{ rotate: key.keyId }} size="compact-sm" variant="default">
          Rotate
        </OpenButton>
      )}
      <ConfirmButton
        op="revokeAccessKey"
        label="Revoke"
        question="Revoke this access key?"
        button={{ size: "compact-sm" }}
        run={() => revoke.run({ params: { id: applicationId, keyId: key.keyId } })}
      >
        Calls with tokens of <span className="mono">{key.keyId}</span> are refused within seconds. To change
        keys without an interruption, rotate it instead.
      </ConfirmButton>
    </Group>
  );
}
