import { Badge, Group, Select } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { useDeferredValue, useState } from "react";
import { SEARCH_LIMITS } from "@platform/contract/search-limits";
import type { AnswerOf, ItemOf } from "../../api/client.ts";
import { pages, useLoadedPages } from "../../api/queries.ts";
import { DataTable } from "../../table/data-table.tsx";
import type { Column } from "../../table/data-table.tsx";
import { CopyAs } from "../../ui/copy-as.tsx";
import { useSetSearch } from "../../ui/dialog.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { SearchField } from "../../ui/search-field.tsx";
import { SecretOnce } from "../../ui/secret-once.tsx";
import { Time } from "../../ui/time.tsx";
import { toCommandLine } from "../../util/command-line.ts";
import { OperatorFrame } from "./operator-frame.tsx";
import { UserActions } from "./user-actions.tsx";

const route = getRouteApi("/in/operator/users");

type User = ItemOf<"listUsers">;

const STATES = [
  { value: "enabled", label: "Enabled" },
  { value: "disabled", label: "Disabled" },
  { value: "operator", label: "Operators" },
];

/** All users of the platform. */
export function UsersPage() {
  const query = useDeferredValue(route.useSearch());
  const setSearch = useSetSearch();
  const users = useLoadedPages(pages("listUsers", { query }));
  const [link, setLink] = useState<AnswerOf<"createResetLink"> | null>(null);
  return (
    <OperatorFrame
      title="Users"
      description="Whoever is disabled is signed out within seconds, and so are their tokens. Nothing of their organisations ends."
      actions={
        <CopyAs
          op="listUsers"
          request={{ query }}
          command={toCommandLine("platform operator users", { state: query.state }, query.q)}
        />
      }
    >
      <Group mb="sm">
        <SearchField
          label="Name or address contains"
          placeholder="Name or address contains"
          maxLength={SEARCH_LIMITS.operator}
          miw={240}
          words={query.q}
          onSearch={(q) => setSearch({ q })}
        />
        <Select
          aria-label="Kind of user"
          placeholder="All users"
          data={STATES}
          value={query.state ?? null}
          onChange={(value) => setSearch({ state: value ?? undefined })}
          clearable
        />
      </Group>
      <DataTable
        label="Users"
        columns={createColumns(setLink)}
        rows={users}
        rowKey={({ id }) => id}
        empty={<EmptyState title="No user matches">No user has this text and is of this kind.</EmptyState>}
      />
      <SecretOnce
        title={`Link for ${link?.email ?? ""}`}
        secrets={link && [{ label: "Link", value: link.url }]}
        onClose={() => setLink(null)}
      />
    </OperatorFrame>
  );
}

function createColumns(onLink: (link: AnswerOf<"createResetLink">) => void): readonly Column<User>[] {
  return [
    {
      id: "name",
      label: "User",
      cell: ({ name, email, operator }) => (
        <div>
          <Group gap={6}>
            {name}
            {operator && <Badge>Operator</Badge>}
          </Group>
          {email}
        </div>
      ),
    },
    {
      id: "state",
      label: "State",
      cell: ({ disabledAt }) =>
        disabledAt === null ? (
          "Enabled"
        ) : (
          <span>
            Disabled <Time at={disabledAt} />
          </span>
        ),
    },
    {
      id: "organizations",
      label: "Organisations",
      align: "end",
      cell: ({ organizations }) => organizations,
      priority: 3,
    },
    {
      id: "seen",
      label: "Last seen",
      cell: ({ lastSeenAt }) => <Time at={lastSeenAt} none="never" />,
      priority: 3,
    },
    { id: "created", label: "Created", cell: ({ createdAt }) => <Time at={createdAt} />, priority: 3 },
    { id: "actions", label: "", align: "end", cell: (user) => <UserActions of={user} onLink={onLink} /> },
  ];
}
