import { Button } from "@mantine/core";
import type { ButtonProps } from "@mantine/core";
import { useState } from "react";
import type { OperationId } from "../api/client.ts";
import { createKey } from "../util/keys.ts";
import { Can } from "./can.tsx";
import { notifyDone } from "./notify.ts";
import { useOnePress } from "./use-one-press.ts";

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
  // Pressed again after an answer that was lost, it starts none besides; when the new one is known, another can be started.
  const [key, setKey] = useState(createKey);
  const { isRunning, press } = useOnePress(async () => {
    const goThere = await start(`${key}-${id}`);
    setKey(createKey());
    notifyDone("Started again with the same input.");
    await goThere();
  });
  return (
    <Can op={op} unless={hasInput ? null : "The input is not kept any more."}>
      <Button {...button} aria-keyshortcuts={shortcut} loading={isRunning} onClick={press}>
        Run again
      </Button>
    </Can>
  );
}
