import { Button } from "@mantine/core";
import { useState } from "react";
import type { ReactNode } from "react";
import type { OperationId, PlatformApi } from "../api/client.ts";
import { useScope } from "../api/scope.tsx";
import { Can } from "./can.tsx";
import { notifyFailure } from "./notify.ts";
import { saveBlob } from "./save.ts";

interface DownloadButtonProps {
  /** What is asked, which decides who may. */
  readonly op: OperationId;
  /** Name of the file that is saved. */
  readonly fileName: string;
  readonly ask: (api: PlatformApi) => Promise<Response>;
  readonly children: ReactNode;
}

/** Saves what an operation answers. Not a plain link: a request with the session's cookie needs the header that only the console sends. */
export function DownloadButton({ op, fileName, ask, children }: DownloadButtonProps) {
  const { api } = useScope();
  const [isRunning, setIsRunning] = useState(false);
  const download = async () => {
    setIsRunning(true);
    try {
      saveBlob(fileName, await (await ask(api)).blob());
    } catch (error) {
      notifyFailure(error);
    } finally {
      setIsRunning(false);
    }
  };
  return (
    <Can op={op}>
      <Button variant="default" loading={isRunning} onClick={() => void download()}>
        {children}
      </Button>
    </Can>
  );
}
