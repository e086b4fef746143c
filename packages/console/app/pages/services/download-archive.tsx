import { Button } from "@mantine/core";
import { useState } from "react";
import { useScope } from "../../api/scope.tsx";
import { Can } from "../../ui/can.tsx";
import { notifyFailure } from "../../ui/notify.ts";
import { saveBlob } from "../../ui/save.ts";

interface DownloadArchiveProps {
  readonly serviceKey: string;
  readonly version: string;
}

/** The project as it was uploaded. Not a plain link: a request with the session's cookie needs the header that only the console sends. */
export function DownloadArchive({ serviceKey, version }: DownloadArchiveProps) {
  const { api } = useScope();
  const [isRunning, setIsRunning] = useState(false);
  const download = async () => {
    setIsRunning(true);
    try {
      const answer = await api.downloadArchive({ params: { key: serviceKey, version } });
      saveBlob(`${version}.zip`, await answer.blob());
    } catch (error) {
      notifyFailure(error);
    } finally {
      setIsRunning(false);
    }
  };
  return (
    <Can op="downloadArchive">
      <Button variant="default" loading={isRunning} onClick={() => void download()}>
        Download
      </Button>
    </Can>
  );
}
