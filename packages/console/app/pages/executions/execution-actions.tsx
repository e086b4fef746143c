import { Button } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { readText } from "../../api/content.ts";
import { useChange, useReadAll } from "../../api/queries.ts";
import { useOrganisation, useScope } from "../../api/scope.tsx";
import type { Execution } from "../../execution/advice.ts";
import { Can } from "../../ui/can.tsx";
import { ConfirmButton } from "../../ui/confirm.tsx";
import { CopyAs } from "../../ui/copy-as.tsx";
import { notifyDone, notifyFailure } from "../../ui/notify.ts";
import { createKey } from "../../util/keys.ts";

const route = getRouteApi("/in/o/$org/executions/$id");

/** What can be done with an execution. */
export function ExecutionActions({ execution }: { readonly execution: Execution }) {
  const { id, kind, terminal, isCancelRequested } = execution;
  const cancel = useChange("cancelExecutions", {
    done: "It is being cancelled.",
    refresh: ["getExecution", "listExecutions", "countExecutions"],
  });
  return (
    <>
      <CopyAs op="getExecution" request={{ params: { id } }} id={id} command={`platform status ${id}`} />
      {kind !== "incoming" && execution.status !== "SUCCEEDED" && terminal && (
        <CompareWithLast execution={execution} />
      )}
      {kind !== "incoming" && !terminal && (
        <ConfirmButton
          op="cancelExecutions"
          label={isCancelRequested ? "Cancelling" : "Cancel"}
          question="Cancel this execution?"
          run={() => cancel.run({ body: { ids: [id] } })}
        >
          What waits ends at once, what runs within seconds. What its code has done already stays done.
        </ConfirmButton>
      )}
      {kind !== "incoming" && <RunAgain execution={execution} />}
    </>
  );
}

/** Starts the same version with the same body, byte by byte, as whoever has started this one. */
function RunAgain({ execution }: { readonly execution: Execution }) {
  const { id, kind, service, version, subscriptionId, inputBytes } = execution;
  const scope = useScope();
  const { slug } = useOrganisation();
  const navigate = route.useNavigate();
  const [isRunning, setIsRunning] = useState(false);
  const startJob = useChange("startJob", { refresh: ["listExecutions", "countExecutions"] });
  const startOutgoing = useChange("startSubscriptionExecution", {
    refresh: ["listExecutions", "countExecutions"],
  });
  const run = async () => {
    const body = { json: await readText(scope, "getExecutionInput", { params: { id } }) };
    const idempotencyKey = createKey();
    const started =
      kind === "job" || subscriptionId === undefined
        ? await startJob.run({ query: { serviceKey: service.key, version }, body, idempotencyKey })
        : await startOutgoing.run({
            params: { id: subscriptionId },
            query: { version },
            body,
            idempotencyKey,
          });
    notifyDone("Started again with the same input.");
    await navigate({ to: "/o/$org/executions/$id", params: { org: slug, id: started.id }, search: {} });
  };
  return (
    <Can op={kind === "job" ? "startJob" : "startSubscriptionExecution"}>
      <Button
        loading={isRunning}
        disabled={inputBytes === undefined}
        title={inputBytes === undefined ? "The input is not kept any more." : undefined}
        onClick={() => {
          setIsRunning(true);
          run()
            .catch(notifyFailure)
            .finally(() => setIsRunning(false));
        }}
      >
        Run again
      </Button>
    </Can>
  );
}

/** Leads to the comparison with the last one of the same service that has succeeded. */
function CompareWithLast({ execution: { id, service } }: { readonly execution: Execution }) {
  const { slug } = useOrganisation();
  const navigate = route.useNavigate();
  const readAll = useReadAll("listExecutions");
  const compare = async () => {
    const { items } = await readAll({ query: { serviceKey: service.key, status: ["SUCCEEDED"] } }, 1);
    const last = items.find(({ kind }) => kind !== "incoming");
    if (last === undefined) return notifyDone("None of this service has succeeded so far.");
    await navigate({
      to: "/o/$org/executions/compare",
      params: { org: slug },
      search: { a: last.id, b: id },
    });
  };
  return (
    <Button variant="default" onClick={() => void compare().catch(notifyFailure)}>
      Compare with last success
    </Button>
  );
}
