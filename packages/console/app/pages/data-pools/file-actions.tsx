import type { DataPool, PoolFile } from "@platform/contract/platform-api/data-pools";
import { useChange } from "../../api/queries.ts";
import { ConfirmButton } from "../../ui/confirm.tsx";
import { DownloadButton } from "../../ui/download-button.tsx";
import { OpenButton } from "../../ui/open-button.tsx";

interface FileActionsProps {
  readonly pool: DataPool;
  readonly file: PoolFile;
}

/** What can be done with a file. */
export function FileActions({ pool, file: { fileId, name } }: FileActionsProps) {
  const remove = useChange("deletePoolFile", {
    done: "File deleted.",
    refresh: ["listPoolFiles", "getDataPool", "listDataPools"],
  });
  return (
    <>
      <DownloadButton
        op="downloadPoolFile"
        request={{ params: { id: pool.id, file: fileId } }}
        fileName={name}
        size="compact-sm"
      >
        Download
      </DownloadButton>
      {pool.role !== "viewer" && (
        <>
          <OpenButton op="renamePoolFile" set={{ rename: fileId }} size="compact-sm" variant="default">
            Rename
          </OpenButton>
          <ConfirmButton
            op="deletePoolFile"
            label="Delete"
            question={`Delete ${name}?`}
            button={{ size: "compact-sm" }}
            run={() => remove.run({ params: { id: pool.id, file: fileId } })}
          >
            Nothing can be started with a reference to it any more. Executions that have started read it.
          </ConfirmButton>
        </>
      )}
    </>
  );
}
