import { Button } from "@mantine/core";
import type { ButtonProps } from "@mantine/core";
import { useState } from "react";
import type { ReactNode } from "react";
import type { RequestOf } from "../api/client.ts";
import { saveContent } from "../api/content.ts";
import type { ContentOperation } from "../api/content.ts";
import { useScope } from "../api/scope.tsx";
import { Can } from "./can.tsx";
import { notifyFailure } from "./notify.ts";

interface DownloadButtonProps<K extends ContentOperation> extends ButtonProps {
  /** What is asked, which decides who may. */
  readonly op: K;
  readonly request: RequestOf<K>;
  /** Name of the file that is saved. */
  readonly fileName: string;
  readonly children: ReactNode;
}

/** Saves what an operation answers. */
export function DownloadButton<K extends ContentOperation>(props: DownloadButtonProps<K>) {
  const { op, request, fileName, children, ...button } = props;
  const scope = useScope();
  const [isRunning, setIsRunning] = useState(false);
  const download = () => {
    setIsRunning(true);
    saveContent(scope, op, request, fileName)
      .catch(notifyFailure)
      .finally(() => setIsRunning(false));
  };
  return (
    <Can op={op}>
      <Button variant="default" {...button} loading={isRunning} onClick={download}>
        {children}
      </Button>
    </Can>
  );
}
