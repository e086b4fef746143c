import { Button } from "@mantine/core";
import type { ButtonProps } from "@mantine/core";
import type { ReactNode } from "react";
import type { RequestOf } from "../api/client.ts";
import { saveContent } from "../api/content.ts";
import type { ContentOperation } from "../api/content.ts";
import { useScope } from "../api/scope.tsx";
import { Can } from "./can.tsx";
import { useOnePress } from "./use-one-press.ts";

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
  const { isRunning, press } = useOnePress(() => saveContent(scope, op, request, fileName));
  return (
    <Can op={op}>
      <Button variant="default" {...button} loading={isRunning} onClick={press}>
        {children}
      </Button>
    </Can>
  );
}
