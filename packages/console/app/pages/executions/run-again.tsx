import type { ButtonProps } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { readText } from "../../api/content.ts";
import { useChange } from "../../api/queries.ts";
import { useOrganisation, useScope } from "../../api/scope.tsx";
import type { Execution } from "../../execution/advice.ts";
import { RunAgainButton } from "../../ui/run-again-button.tsx";

interface RunAgainProps extends ButtonProps {
  readonly execution: Execution;
  /** A letter that does it. */
  readonly shortcut?: string;
}

/** Starts the same version with the same body, byte by byte, as whoever has started this one. */
export function RunAgain({ execution, ...button }: RunAgainProps) {
  const { id, kind, service, version, subscriptionId, inputBytes } = execution;
  const scope = useScope();
  const { slug } = useOrganisation();
  const navigate = useNavigate();
  const startJob = useChange("startJob", { refresh: ["listExecutions", "countExecutions"] });
  const startOutgoing = useChange("startSubscriptionExecution", {
    refresh: ["listExecutions", "countExecutions"],
  });
  const start = async (idempotencyKey: string) => {
    const body = { json: await readText(scope, "getExecutionInput", { params: { id } }) };
    const started =
      kind === "job" || subscriptionId === undefined
        ? await startJob.run({ query: { serviceKey: service.key, version }, body, idempotencyKey })
        : await startOutgoing.run({
            params: { id: subscriptionId },
            query: { version },
            body,
            idempotencyKey,
          });
    const params = { org: slug, id: started.id };
    return () => navigate({ to: "/o/$org/executions/$id", params, search: {} });
  };
  return (
    <RunAgainButton
      {...button}
      op={kind === "job" ? "startJob" : "startSubscriptionExecution"}
      id={id}
      hasInput={inputBytes !== undefined}
      start={start}
    />
  );
}
