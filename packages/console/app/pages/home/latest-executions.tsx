import { Skeleton, Title } from "@mantine/core";
import { q, REFRESH_MS, useFetched } from "../../api/queries.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { createColumns } from "../../execution/columns.tsx";
import { DataTable } from "../../table/data-table.tsx";
import { Failure } from "../../ui/failure.tsx";

const MOST = 5;
const LATEST = q("listExecutions", { query: { limit: MOST } });
/** Its place is kept until it is there: title and head of the table, and each row. */
const HEAD_PIXELS = 81;
const ROW_PIXELS = 41;

/** The last five, whoever has started them. `expected`: how many there are at least. */
export function LatestExecutions({ expected }: { readonly expected: number }) {
  const { slug } = useOrganisation();
  const { data, error, retry } = useFetched(LATEST, {
    refresh: ({ items }) =>
      items.some(({ terminal }) => !terminal) ? REFRESH_MS.unfinished : REFRESH_MS.list,
  });
  if (error !== null && data === undefined) return <Failure error={error} retry={retry} />;
  if (data === undefined)
    return expected === 0 ? null : <Skeleton height={HEAD_PIXELS + ROW_PIXELS * Math.min(MOST, expected)} />;
  if (data.items.length === 0) return null;
  return (
    <div>
      <Title order={2} fz="lg" mb="sm">
        Latest executions
      </Title>
      <DataTable
        label="Latest executions"
        columns={createColumns(slug)}
        rows={data.items}
        rowKey={({ id }) => id}
        empty={null}
      />
    </div>
  );
}
