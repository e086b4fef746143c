import { Button } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { refuseReplay, toReplay } from "../../execution/advice.ts";
import { useReadAll } from "../../api/queries.ts";
import { useOrganisation } from "../../api/scope.tsx";
import type { Execution } from "../../execution/advice.ts";
import { CopyAs } from "../../ui/copy-as.tsx";
import { notifyDone } from "../../ui/notify.ts";
import { useOnePress } from "../../ui/use-one-press.ts";
import { CancelExecution } from "./cancel-execution.tsx";
import { ReplayLocally } from "./replay-locally.tsx";
import { RunAgain } from "./run-again.tsx";

const route = getRouteApi("/in/o/$org/executions/$id");

/** What can be done with an execution. */
export function ExecutionActions({ execution }: { readonly execution: Execution }) {
  const { id, kind, terminal } = execution;
  return (
    <>
      <CopyAs
        op="getExecution"
        request={{ params: { id } }}
        id={id}
        command={`platform executions show ${id}`}
        {...(kind === "job" && refuseReplay(execution) === null
          ? { more: [["Replay command", toReplay(id)]] }
          : {})}
      />
      {kind !== "incoming" && execution.status !== "SUCCEEDED" && terminal && (
        <CompareWithLast execution={execution} />
      )}
      <CancelExecution execution={execution} shortcut="c" />
      <ReplayLocally execution={execution} />
      {kind !== "incoming" && <RunAgain execution={execution} shortcut="r" />}
    </>
  );
}

/** Leads to the comparison with the last one of the same service that has succeeded. */
function CompareWithLast({ execution: { id, service } }: { readonly execution: Execution }) {
  const { slug } = useOrganisation();
  const navigate = route.useNavigate();
  const readAll = useReadAll("listExecutions");
  const { isRunning, press } = useOnePress(async () => {
    const { items } = await readAll({ query: { serviceKey: service.key, status: ["SUCCEEDED"] } }, 1);
    const last = items.find(({ kind }) => kind !== "incoming");
    if (last === undefined) return notifyDone("None of this service has succeeded so far.");
    await navigate({
      to: "/o/$org/executions/compare",
      params: { org: slug },
      search: { a: last.id, b: id },
    });
  });
  return (
    <Button variant="default" loading={isRunning} onClick={press}>
      Compare with last success
    </Button>
  );
}
