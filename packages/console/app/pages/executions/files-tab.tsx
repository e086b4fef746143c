import { Skeleton, Stack, Text } from "@mantine/core";
import type { AnswerOf } from "../../api/client.ts";
import { q, useFetched } from "../../api/queries.ts";
import type { Execution } from "../../execution/advice.ts";
import { DataTable } from "../../table/data-table.tsx";
import type { Column } from "../../table/data-table.tsx";
import { DownloadButton } from "../../ui/download-button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Failure } from "../../ui/failure.tsx";
import { formatBytes } from "../../util/units.ts";
import { OmittedFiles } from "./omitted-files.tsx";

type ResultFile = AnswerOf<"listResultFiles">["items"][number];

/** What the code has left in OUTPUT_DIRECTORY. */
export function FilesTab({ execution }: { readonly execution: Execution }) {
  const { id, terminal, areContentsShown } = execution;
  const { data, error, retry } = useFetched(q("listResultFiles", { params: { id } }), {
    isActive: terminal && areContentsShown,
  });
  if (!areContentsShown) return <Text c="dimmed">Files of a result belong to the subscriber.</Text>;
  if (!terminal) return <Text c="dimmed">There are no files yet: the execution has not ended.</Text>;
  if (error !== null) return <Failure error={error} retry={retry} />;
  if (data === undefined) return <Skeleton h={120} />;
  return (
    <Stack>
      <OmittedFiles execution={execution} />
      <DataTable
        label="Files of the result"
        columns={createColumns(id)}
        rows={data.items}
        rowKey={({ name }) => name}
        empty={
          <EmptyState title="No files">
            What the code of a service writes into the folder OUTPUT_DIRECTORY is kept here when it has
            succeeded.
          </EmptyState>
        }
      />
    </Stack>
  );
}

function createColumns(id: string): readonly Column<ResultFile>[] {
  return [
    { id: "name", label: "Name", cell: ({ name }) => <span className="mono">{name}</span> },
    { id: "size", label: "Size", align: "end", cell: ({ bytes }) => formatBytes(bytes) },
    {
      id: "actions",
      label: "",
      align: "end",
      cell: ({ name }) => (
        <DownloadButton
          op="downloadResultFile"
          request={{ params: { id, file: name } }}
          fileName={name}
          size="compact-sm"
        >
          Download
        </DownloadButton>
      ),
    },
  ];
}
