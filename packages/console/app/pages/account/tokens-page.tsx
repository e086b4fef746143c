import { Badge, Group, Text } from "@mantine/core";
import { useState } from "react";
import type { AnswerOf, ItemOf } from "../../api/client.ts";
import { pages, useChange, useLoadedPages } from "../../api/queries.ts";
import { CreatePersonalAccessToken } from "../../forms/create-personal-access-token.tsx";
import { DataTable } from "../../table/data-table.tsx";
import type { Column } from "../../table/data-table.tsx";
import { ConfirmButton } from "../../ui/confirm.tsx";
import { CopyAs } from "../../ui/copy-as.tsx";
import { RoutedDialog } from "../../ui/dialog.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { OpenButton } from "../../ui/open-button.tsx";
import { SecretOnce } from "../../ui/secret-once.tsx";
import { Time, useNow } from "../../ui/time.tsx";
import { parseTimestamp } from "../../util/times.ts";
import { AccountFrame } from "./account-frame.tsx";

type Token = ItemOf<"listPersonalAccessTokens">;

/** From so many days on it is said that a token ends. */
const SOON_MS = 14 * 86_400_000;

const NewToken = () => (
  <OpenButton op="createPersonalAccessToken" set={{ new: "token" }}>
    New token
  </OpenButton>
);

/** The user's personal access tokens. */
export function TokensPage() {
  const tokens = useLoadedPages(pages("listPersonalAccessTokens", {}));
  const [created, setCreated] = useState<AnswerOf<"createPersonalAccessToken"> | null>(null);
  return (
    <AccountFrame
      title="Personal access tokens"
      description="For the command line tool and programs that use the platform API in your name. They work in all of your organisations."
      actions={
        <>
          <CopyAs op="listPersonalAccessTokens" request={{}} command="platform tokens ls" />
          <NewToken />
        </>
      }
    >
      <DataTable
        label="Personal access tokens"
        columns={COLUMNS}
        rows={tokens}
        rowKey={({ id }) => id}
        empty={
          <EmptyState title="No tokens" action={<NewToken />} command="platform login">
            A token signs a program in, as a password signs you in. The command line tool makes its own when
            you log in with a browser.
          </EmptyState>
        }
      />
      <RoutedDialog title="New personal access token" when={["new", "token"]}>
        {(close) => (
          <CreatePersonalAccessToken
            onCancel={close}
            onCreated={(token) => {
              close();
              setCreated(token);
            }}
          />
        )}
      </RoutedDialog>
      <SecretOnce
        title="The new token"
        secrets={
          created && [
            { label: "Token", variable: "PLATFORM_PERSONAL_ACCESS_TOKEN", value: created.token },
            { label: "Log in", value: `platform login -t ${created.token}` },
          ]
        }
        onClose={() => setCreated(null)}
      />
    </AccountFrame>
  );
}

const COLUMNS: readonly Column<Token>[] = [
  {
    id: "name",
    label: "Name",
    cell: ({ name }) => (
      <Text span inherit fw={600}>
        {name}
      </Text>
    ),
  },
  {
    id: "scopes",
    label: "Scopes",
    cell: ({ scopes }) => (
      <Group gap={4}>
        {scopes.map((scope) => (
          <Badge key={scope}>{scope}</Badge>
        ))}
      </Group>
    ),
  },
  { id: "expires", label: "Expires", cell: (token) => <Expiry of={token} /> },
  {
    id: "used",
    label: "Last used",
    cell: ({ lastUsedAt }) => <Time at={lastUsedAt} none="not yet" />,
    priority: 3,
  },
  { id: "created", label: "Created", cell: ({ createdAt }) => <Time at={createdAt} />, priority: 3 },
  { id: "actions", label: "", align: "end", cell: (token) => <Revoke of={token} /> },
];

function Expiry({ of: { expiresAt } }: { readonly of: Token }) {
  const now = useNow();
  const isSoon = expiresAt !== null && parseTimestamp(expiresAt) - now < SOON_MS;
  return (
    <Group gap={6}>
      <Time at={expiresAt} none="never" />
      {isSoon && <Badge>Soon</Badge>}
    </Group>
  );
}

function Revoke({ of: { id, name } }: { readonly of: Token }) {
  const revoke = useChange("revokePersonalAccessToken", {
    done: "Token revoked.",
    refresh: ["listPersonalAccessTokens"],
  });
  return (
    <ConfirmButton
      op="revokePersonalAccessToken"
      label="Revoke"
      question={`Revoke the token "${name}"?`}
      button={{ size: "compact-sm" }}
      run={() => revoke.run({ params: { id } })}
    >
      Programs that use it are refused from then on, and so are tokens that were made with it.
    </ConfirmButton>
  );
}
