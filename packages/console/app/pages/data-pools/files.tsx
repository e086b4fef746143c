import { Group, Stack, Text } from "@mantine/core";
import { useDeferredValue } from "react";
import type { DataPool, PoolFile } from "@platform/contract/platform-api/data-pools";
import { SEARCH_LIMITS } from "@platform/contract/search-limits";
import { pages, q, REFRESH_MS, useFetched, useLoadedPages } from "../../api/queries.ts";
import { useScope } from "../../api/scope.tsx";
import { startUploads } from "../../api/uploads.ts";
import { RenamePoolFile } from "../../forms/rename-pool-file.tsx";
import { DataTable } from "../../table/data-table.tsx";
import type { Column } from "../../table/data-table.tsx";
import { useRefusal } from "../../ui/can.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { RoutedDialog, useSetSearch } from "../../ui/dialog.tsx";
import { DropZone } from "../../ui/drop-zone.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { SearchField } from "../../ui/search-field.tsx";
import { Time } from "../../ui/time.tsx";
import { formatBytes } from "../../util/units.ts";
import { FileActions } from "./file-actions.tsx";
import { toFileFilter } from "./filter.ts";
import { UploadList } from "./upload-list.tsx";

/** Of a SHA-256: enough to compare by eye; all of it is copied. */
const SHOWN_DIGITS = 12;

interface FilesProps {
  readonly pool: DataPool;
  /** The file that is about to be renamed, of the URL. */
  readonly renaming: string | undefined;
  /** What names are to contain, likewise. */
  readonly words: string | undefined;
}

/** The files of a pool, and those that are on their way. */
export function Files({ pool, renaming, words }: FilesProps) {
  const query = toFileFilter(useDeferredValue(words));
  const setSearch = useSetSearch();
  const files = useLoadedPages(pages("listPoolFiles", { params: { id: pool.id }, query }), {
    refresh: REFRESH_MS.list,
  });
  const mayWrite = useRefusal("putPoolFile") === null && pool.role !== "viewer";
  const renamed = files.items.find(({ fileId }) => fileId === renaming);
  return (
    <Stack>
      {mayWrite && <Upload poolId={pool.id} />}
      {mayWrite && <UploadList poolId={pool.id} />}
      <SearchField
        label="Name contains"
        placeholder="Name contains"
        maxLength={SEARCH_LIMITS.poolFile}
        maw={320}
        words={words}
        onSearch={(q) => setSearch({ q })}
      />
      <DataTable
        label="Files"
        columns={createColumns(pool)}
        rows={files}
        rowKey={({ fileId }) => fileId}
        empty={query.q === undefined ? <NoFiles poolId={pool.id} mayWrite={mayWrite} /> : <NothingFound />}
      />
      {renamed !== undefined && (
        <RoutedDialog title="Rename the file" when={["rename", renamed.fileId]}>
          {(close) => <RenamePoolFile poolId={pool.id} file={renamed} close={close} />}
        </RoutedDialog>
      )}
    </Stack>
  );
}

function NothingFound() {
  return <EmptyState title="No file matches">No file of this data pool has this in its name.</EmptyState>;
}

function NoFiles({ poolId, mayWrite }: { readonly poolId: string; readonly mayWrite: boolean }) {
  return (
    <EmptyState title="No files yet" command={`platform pools upload ${poolId} FILE`}>
      {mayWrite
        ? "Drop a file above. Its Copy Text then is the reference that starts an execution with it."
        : "Files come by maintainers of this organisation, where the pool is its own or is shared for writing."}
    </EmptyState>
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
      cell: ({ name, type, sha256 }) => (
        <>
          <span style={{ overflowWrap: "anywhere", whiteSpace: "pre-wrap" }}>{name}</span>
          <Text fz="sm" c="dimmed">
            {type}
          </Text>
          <Text fz="sm" c="dimmed" title={sha256}>
            SHA-256 <span className="mono">{sha256.slice(0, SHOWN_DIGITS)}…</span>{" "}
            <CopyButton text={sha256} what={`SHA-256 of ${name}`} />
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
