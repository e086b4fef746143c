import { Button } from "@mantine/core";
import type { ExecutionStatus } from "@platform/contract/execution";
import type { Bucket } from "../../execution/buckets.ts";
import { toStateWord } from "../../execution/states.ts";
import { DataTable } from "../../table/data-table.tsx";
import type { Column } from "../../table/data-table.tsx";
import { formatExact, parseTimestamp } from "../../util/times.ts";
import { formatCount } from "../../util/units.ts";

interface BucketTableProps {
  readonly buckets: readonly Bucket[];
  readonly by: "hour" | "day";
  readonly states: readonly ExecutionStatus[];
  readonly choose: (bucket: Bucket) => void;
}

/** The numbers of the histogram, the newest first; without those of which there are none. */
export function BucketTable({ buckets, by, states, choose }: BucketTableProps) {
  const columns: readonly Column<Bucket>[] = [
    {
      id: "from",
      label: by === "hour" ? "Hour from" : "Day (UTC)",
      cell: ({ from }) => (by === "hour" ? formatExact(parseTimestamp(from), "local") : from.slice(0, 10)),
    },
    ...states.map((status): Column<Bucket> => ({
      id: status,
      label: toStateWord(status),
      align: "end",
      cell: ({ counts }) => formatCount(counts[status] ?? 0),
    })),
    {
      id: "choose",
      label: "",
      align: "end",
      cell: (bucket) => (
        <Button size="compact-sm" variant="default" onClick={() => choose(bucket)}>
          Show only these
        </Button>
      ),
    },
  ];
  return (
    <DataTable
      label="Executions by time"
      columns={columns}
      rows={buckets.filter(({ total }) => total > 0).toReversed()}
      rowKey={({ from }) => from}
      empty={<p>There are none in this period.</p>}
    />
  );
}
