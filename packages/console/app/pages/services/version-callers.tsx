import { Badge, List, Text } from "@mantine/core";
import type { VersionCaller } from "@platform/contract/platform-api/subscriptions";
import { pages, q, useFetched, useLoadedPages } from "../../api/queries.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { DataTable } from "../../table/data-table.tsx";
import type { Column } from "../../table/data-table.tsx";
import { useRefusal } from "../../ui/can.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { AppLink } from "../../ui/link.tsx";
import { formatCount } from "../../util/units.ts";

interface Props {
  readonly serviceKey: string;
  readonly version: string;
}

/** Which subscriptions call a version: how much and when, and nothing of what they send. */
export function VersionCallers(props: Props) {
  const refusal = useRefusal("listVersionCallers");
  if (refusal !== null) return <EmptyState title="Who calls it is not shown">{refusal}</EmptyState>;
  return <CallerList {...props} />;
}

function CallerList({ serviceKey, version }: Props) {
  const callers = useLoadedPages(pages("listVersionCallers", { params: { key: serviceKey, version } }));
  return (
    <DataTable
      label={`Callers of ${version}`}
      columns={COLUMNS}
      rows={callers}
      rowKey={({ subscriptionId }) => subscriptionId}
      empty={
        <EmptyState title={`Nobody calls ${version}`}>
          No subscription has started an execution of it within 30 days that has ended, and none is pinned to
          it.
        </EmptyState>
      }
    />
  );
}

const COLUMNS: readonly Column<VersionCaller>[] = [
  { id: "organisation", label: "Organisation", cell: ({ organizationName }) => organizationName },
  { id: "application", label: "Application", cell: ({ applicationName }) => applicationName },
  {
    id: "executions",
    label: "Executions in 30 days",
    align: "end",
    cell: ({ executions }) => formatCount(executions),
  },
  { id: "last", label: "Last call (UTC)", cell: ({ lastDay }) => lastDay ?? "-" },
  { id: "names", label: "Its URL names", cell: ({ version }) => version ?? "the latest" },
  {
    id: "state",
    label: "State",
    cell: ({ status }) => <Badge>{status === "ACTIVE" ? "Active" : "Paused"}</Badge>,
    priority: 3,
  },
];

/** So many are named beside what breaks them; the page of the version that they call has all. */
const MOST_NAMED = 5;

/** Who would be broken by the version after this one: for whom it is shown, else nothing. */
export function CallersOfFormer({ serviceKey, version }: Props) {
  const { slug: org } = useOrganisation();
  const refusal = useRefusal("listVersionCallers");
  const { data } = useFetched(
    q("listVersionCallers", { params: { key: serviceKey, version }, query: { limit: MOST_NAMED } }),
    { isActive: refusal === null },
  );
  if (data === undefined) return null;
  if (data.items.length === 0)
    return (
      <Text fz="sm">No subscription has called {version} within 30 days, and none is pinned to it.</Text>
    );
  return (
    <>
      <Text fz="sm">
        Still calling {version}, within 30 days (
        <AppLink
          to="/o/$org/services/$key/versions/$version"
          params={{ org, key: serviceKey, version }}
          search={{ tab: "callers" }}
        >
          callers of {version}
        </AppLink>
        ):
      </Text>
      <List fz="sm">
        {data.items.map((caller) => (
          <List.Item key={caller.subscriptionId} style={{ overflowWrap: "anywhere" }}>
            {describeCaller(caller)}
          </List.Item>
        ))}
        {data.nextCursor !== null && <List.Item>and more</List.Item>}
      </List>
    </>
  );
}

function describeCaller({ organizationName, applicationName, executions, lastDay }: VersionCaller): string {
  const used =
    lastDay === null
      ? "pinned to it, without a call"
      : `${formatCount(executions)} ${executions === 1 ? "execution" : "executions"}, the last on ${lastDay}`;
  return `${organizationName}, ${applicationName}: ${used}`;
}
