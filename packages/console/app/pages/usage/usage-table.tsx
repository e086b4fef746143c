import { Group, Title } from "@mantine/core";
import type { Usage } from "@platform/contract/platform-api/usage";
import type { LoadedPages } from "../../api/queries.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { DataTable } from "../../table/data-table.tsx";
import type { Column } from "../../table/data-table.tsx";
import { AppLink } from "../../ui/link.tsx";
import { listDayLinks } from "../../usage/day-links.ts";
import { DIMENSION_WORDS } from "../../usage/query.ts";
import type { Dimension, Side } from "../../usage/query.ts";
import { formatUsage, NUMBER_WORDS, USAGE_NUMBERS } from "../../usage/sum.ts";
import type { UsageNumber } from "../../usage/sum.ts";
import { formatMoney } from "../../util/money.ts";

interface UsageTableProps {
  readonly usage: LoadedPages<Usage>;
  readonly by: Dimension;
  readonly side: Side;
}

/** The numbers of the charts, with all of their digits. */
export function UsageTable({ usage, by, side }: UsageTableProps) {
  const columns: readonly Column<Usage>[] = [
    {
      id: "label",
      label: DIMENSION_WORDS[by],
      cell: (line) => (by === "day" ? <Day of={line} side={side} /> : line.label),
    },
    toColumn("executions"),
    { id: "cost", label: "Cost", align: "end", cell: ({ cost }) => formatMoney(cost) },
    ...USAGE_NUMBERS.filter((name) => name !== "executions").map(toColumn),
  ];
  return (
    <section aria-labelledby="numbers">
      <Title order={2} fz="lg" mb="sm" id="numbers">
        By {DIMENSION_WORDS[by].toLowerCase()}
      </Title>
      <DataTable
        label="Usage"
        columns={columns}
        rows={usage}
        rowKey={({ key }) => key}
        empty={<p>Nothing was used.</p>}
      />
    </section>
  );
}

function toColumn(name: UsageNumber): Column<Usage> {
  return {
    id: name,
    label: NUMBER_WORDS[name],
    align: "end",
    cell: (line) => formatUsage(line[name]),
    // Where there is little room, what is not charged by is left out.
    priority: name === "executions" || name === "cpuSeconds" ? 1 : 3,
  };
}

/** Leads to the executions of the day. */
function Day({ of: { key, label, executions }, side }: { readonly of: Usage; readonly side: Side }) {
  const { slug } = useOrganisation();
  if (executions === 0) return label;
  return (
    <Group gap="xs">
      {label}
      {listDayLinks(key, side).map(({ label: words, search }) => (
        <AppLink
          key={words}
          to="/o/$org/executions"
          params={{ org: slug }}
          search={search}
          aria-label={`${words} of ${label}`}
        >
          {words}
        </AppLink>
      ))}
    </Group>
  );
}
