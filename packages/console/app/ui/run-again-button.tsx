import { Button } from "@mantine/core";
import type { ButtonProps } from "@mantine/core";
import { useRef, useState } from "react";
import type { OperationId } from "../api/client.ts";
import { createKey } from "../util/keys.ts";
import { Can } from "./can.tsx";
import { notifyDone, notifyFailure } from "./notify.ts";

interface RunAgainButtonProps extends ButtonProps {
  /** The operation, which decides who may. */
  readonly op: OperationId;
  /** Of what is started again. */
  readonly id: string;
  /** Whether its input is kept. */
  readonly hasInput: boolean;
  /** A letter that does it. */
  readonly shortcut?: string | undefined;
  /** Starts it; returns what leads to the new one. */
  readonly start: (idempotencyKey: string) => Promise<() => Promise<unknown>>;
}

/** Starts something again with its input: once, where it is pressed twice. */
export function RunAgainButton({ op, id, hasInput, shortcut, start, ...button }: RunAgainButtonProps) {
  const [isRunning, setIsRunning] = useState(false);
  const isBusy = useRef(false);
  // Pressed again after an answer that was lost, it starts none besides; when the new one is known, another can be started.
  const [press, setPress] = useState(createKey);
  const run = async () => {
    const goThere = await start(`${press}-${id}`);
    setPress(createKey());
    notifyDone("Started again with the same input.");
    await goThere();
  };
  return (
    <Can op={op}>
      <Button
        {...button}
        aria-keyshortcuts={shortcut}
        loading={isRunning}
        disabled={!hasInput}
        title={hasInput ? undefined : "The input is not kept any more."}
        onClick={() => {
          if (isBusy.current) return;
          isBusy.current = true;
          setIsRunning(true);
          run()
            .catch(notifyFailure)
            .finally(() => {
              isBusy.current = false;
              setIsRunning(false);
            });
        }}
      >
        Run again
      </Button>
    </Can>
  );
}
