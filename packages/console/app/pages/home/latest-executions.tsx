import { Title } from "@mantine/core";
import { q, REFRESH_MS, useFetched } from "../../api/queries.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { createColumns } from "../../execution/columns.tsx";
import { DataTable } from "../../table/data-table.tsx";
import { Failure } from "../../ui/failure.tsx";

const LATEST = q("listExecutions", { query: { limit: 5 } });

/** The last five, whoever has started them. */
export function LatestExecutions() {
  const { slug } = useOrganisation();
  const { data, error, retry } = useFetched(LATEST, {
    refresh: ({ items }) =>
      items.some(({ terminal }) => !terminal) ? REFRESH_MS.unfinished : REFRESH_MS.list,
  });
  if (error !== null && data === undefined) return <Failure error={error} retry={retry} />;
  if (data === undefined || data.items.length === 0) return null;
  return (
    <section aria-labelledby="latest">
      <Title order={2} fz="lg" mb="sm" id="latest">
        Latest executions
      </Title>
      <DataTable
        label="Latest executions"
        columns={createColumns(slug)}
        rows={data.items}
        rowKey={({ id }) => id}
        empty={null}
      />
    </section>
  );
}
