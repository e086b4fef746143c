import { Group, Stack, Text } from "@mantine/core";
import type { DataPool, PoolFile } from "@platform/contract/platform-api/data-pools";
import { pages, q, REFRESH_MS, useFetched, useLoadedPages } from "../../api/queries.ts";
import { useScope } from "../../api/scope.tsx";
import { startUploads } from "../../api/uploads.ts";
import { RenamePoolFile } from "../../forms/rename-pool-file.tsx";
import { DataTable } from "../../table/data-table.tsx";
import type { Column } from "../../table/data-table.tsx";
import { useRefusal } from "../../ui/can.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { RoutedDialog } from "../../ui/dialog.tsx";
import { DropZone } from "../../ui/drop-zone.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Time } from "../../ui/time.tsx";
import { formatBytes } from "../../util/units.ts";
import { FileActions } from "./file-actions.tsx";
import { UploadList } from "./upload-list.tsx";

interface FilesProps {
  readonly pool: DataPool;
  /** The file that is about to be renamed, of the URL. */
  readonly renaming: string | undefined;
}

/** The files of a pool, and those that are on their way. */
export function Files({ pool, renaming }: FilesProps) {
  const files = useLoadedPages(pages("listPoolFiles", { params: { id: pool.id } }), {
    refresh: REFRESH_MS.list,
  });
  const mayWrite = useRefusal("putPoolFile") === null && pool.role !== "viewer";
  const renamed = files.items.find(({ fileId }) => fileId === renaming);
  return (
    <Stack>
      {mayWrite && <Upload poolId={pool.id} />}
      {mayWrite && <UploadList poolId={pool.id} />}
      <DataTable
        label="Files"
        columns={createColumns(pool)}
        rows={files}
        rowKey={({ fileId }) => fileId}
        empty={
          <EmptyState title="No files yet" command={`platform pools upload ${pool.id} FILE`}>
            {mayWrite
              ? "Drop a file above. Its Copy Text then is the reference that starts an execution with it."
              : "Files come by maintainers of this organisation, where the pool is its own or is shared for writing."}
          </EmptyState>
        }
      />
      {renamed !== undefined && (
        <RoutedDialog title="Rename the file" when={["rename", renamed.fileId]}>
          {(close) => <RenamePoolFile poolId={pool.id} file={renamed} close={close} />}
        </RoutedDialog>
      )}
    </Stack>
  );
}

function Upload({ poolId }: { readonly poolId: string }) {
  const scope = useScope();
  const { data } = useFetched(q("getConfiguration", {}));
  const most = data === undefined ? "" : ` At most ${formatBytes(data.limits.fileBytes)} each.`;
  return (
    <DropZone
      words="Drop files here, or"
      button="Choose files"
      label="Files for the data pool"
      isMultiple
      hint={`A file of the same name is replaced; executions that have started read the former content.${most}`}
      choose={(files) => startUploads(scope, poolId, files)}
    />
  );
}

function createColumns(pool: DataPool): readonly Column<PoolFile>[] {
  return [
    {
      id: "name",
      label: "Name",
      cell: ({ name, type }) => (
        <>
          <span style={{ overflowWrap: "anywhere", whiteSpace: "pre-wrap" }}>{name}</span>
          <Text fz="sm" c="dimmed">
            {type}
          </Text>
        </>
      ),
    },
    { id: "bytes", label: "Size", align: "end", cell: ({ bytes }) => formatBytes(bytes) },
    {
      id: "stored",
      label: "Stored",
      cell: ({ createdAt, createdBy }) => (
        <>
          <Time at={createdAt} /> by {createdBy}
        </>
      ),
      priority: 3,
    },
    {
      id: "actions",
      label: "",
      align: "end",
      cell: (file) => (
        <Group gap={6} justify="flex-end">
          <CopyButton text={JSON.stringify(file.reference)} what={`Text of ${file.name}`} label="Copy Text" />
          <FileActions pool={pool} file={file} />
        </Group>
      ),
    },
  ];
}
