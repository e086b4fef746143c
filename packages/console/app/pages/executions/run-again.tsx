import { Button } from "@mantine/core";
import type { ButtonProps } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { readText } from "../../api/content.ts";
import { useChange } from "../../api/queries.ts";
import { useOrganisation, useScope } from "../../api/scope.tsx";
import type { Execution } from "../../execution/advice.ts";
import { Can } from "../../ui/can.tsx";
import { notifyDone, notifyFailure } from "../../ui/notify.ts";
import { createKey } from "../../util/keys.ts";

interface RunAgainProps extends ButtonProps {
  readonly execution: Execution;
  /** A letter that does it. */
  readonly shortcut?: string;
}

/** Starts the same version with the same body, byte by byte, as whoever has started this one. */
export function RunAgain({ execution, shortcut, ...button }: RunAgainProps) {
  const { id, kind, service, version, subscriptionId, inputBytes } = execution;
  const scope = useScope();
  const { slug } = useOrganisation();
  const navigate = useNavigate();
  const [isRunning, setIsRunning] = useState(false);
  const isBusy = useRef(false);
  // Pressed again after an answer that was lost, it starts none besides; when the new one is known, another can be started.
  const [press, setPress] = useState(createKey);
  const startJob = useChange("startJob", { refresh: ["listExecutions", "countExecutions"] });
  const startOutgoing = useChange("startSubscriptionExecution", {
    refresh: ["listExecutions", "countExecutions"],
  });
  const run = async () => {
    const body = { json: await readText(scope, "getExecutionInput", { params: { id } }) };
    const idempotencyKey = `${press}-${id}`;
    const started =
      kind === "job" || subscriptionId === undefined
        ? await startJob.run({ query: { serviceKey: service.key, version }, body, idempotencyKey })
        : await startOutgoing.run({
            params: { id: subscriptionId },
            query: { version },
            body,
            idempotencyKey,
          });
    setPress(createKey());
    notifyDone("Started again with the same input.");
    await navigate({ to: "/o/$org/executions/$id", params: { org: slug, id: started.id }, search: {} });
  };
  return (
    <Can op={kind === "job" ? "startJob" : "startSubscriptionExecution"}>
      <Button
        {...button}
        aria-keyshortcuts={shortcut}
        loading={isRunning}
        disabled={inputBytes === undefined}
        title={inputBytes === undefined ? "The input is not kept any more." : undefined}
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
