import type { AnswerOf } from "../../api/client.ts";
import { q, useLoaded } from "../../api/queries.ts";
import { DataTable } from "../../table/data-table.tsx";
import type { Column } from "../../table/data-table.tsx";
import { CopyAs } from "../../ui/copy-as.tsx";
import { Time } from "../../ui/time.tsx";
import { formatBytes, formatCount } from "../../util/units.ts";
import { OperatorFrame } from "./operator-frame.tsx";

type Kind = AnswerOf<"getStorage">["kinds"][number];

const WORDS: Readonly<Record<string, string>> = {
  archives: "Archives of versions",
  "pool-files": "Files of data pools",
  results: "Results above 1 MB, and files of results",
  uploads: "Uploads that have begun",
  objects: "All stored content, equal content once",
  "database-executions": "Database: executions",
  "database-feed": "Database: feed of changes",
  "database-audit": "Database: audit log",
  "database-usage": "Database: usage",
  "database-other": "Database: everything else",
};

/** What is stored, by kind, and for how long. */
export function StoragePage() {
  const { kinds, measuredAt } = useLoaded(q("getStorage", {}));
  return (
    <OperatorFrame
      title="Storage"
      description={
        <>
          Measured <Time at={measuredAt} />, at most once a minute. Of the database it is tables with their
          indexes.
        </>
      }
      actions={<CopyAs op="getStorage" request={{}} command="platform operator storage" />}
    >
      <DataTable
        label="Storage"
        columns={COLUMNS}
        rows={kinds}
        rowKey={({ kind }) => kind}
        empty={<p>Nothing is stored.</p>}
      />
    </OperatorFrame>
  );
}

const COLUMNS: readonly Column<Kind>[] = [
  { id: "kind", label: "What", cell: ({ kind }) => WORDS[kind] ?? kind },
  {
    id: "count",
    label: "Count",
    align: "end",
    cell: ({ kind, count }) => `${formatCount(count)}${kind.startsWith("database-") ? " tables" : ""}`,
  },
  { id: "bytes", label: "Size", align: "end", cell: ({ bytes }) => formatBytes(bytes) },
  { id: "retention", label: "Kept for", cell: ({ retention }) => retention },
];
