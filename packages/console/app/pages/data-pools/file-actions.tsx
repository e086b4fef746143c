import { Button } from "@mantine/core";
import { useState } from "react";
import type { DataPool, PoolFile } from "@platform/contract/platform-api/data-pools";
import { useChange } from "../../api/queries.ts";
import { useScope } from "../../api/scope.tsx";
import { ConfirmButton } from "../../ui/confirm.tsx";
import { notifyFailure } from "../../ui/notify.ts";
import { OpenButton } from "../../ui/open-button.tsx";
import { saveBlob } from "../../ui/save.ts";

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
      <Download poolId={pool.id} fileId={fileId} name={name} />
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

interface DownloadProps {
  readonly poolId: string;
  readonly fileId: string;
  readonly name: string;
}

/** Not a plain link: a request with the session's cookie needs the header that only the console sends. */
function Download({ poolId, fileId, name }: DownloadProps) {
  const { api } = useScope();
  const [isRunning, setIsRunning] = useState(false);
  const download = async () => {
    setIsRunning(true);
    try {
      const answer = await api.downloadPoolFile({ params: { id: poolId, file: fileId } });
      saveBlob(name, await answer.blob());
    } catch (error) {
      notifyFailure(error);
    } finally {
      setIsRunning(false);
    }
  };
  return (
    <Button size="compact-sm" variant="default" loading={isRunning} onClick={() => void download()}>
      Download
    </Button>
  );
}
