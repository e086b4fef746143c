import { getRouteApi } from "@tanstack/react-router";
import type { QuantumJob } from "@platform/contract/quantum-api/jobs";
import { readText } from "../../api/content.ts";
import { useChange } from "../../api/queries.ts";
import { useOrganisation, useScope } from "../../api/scope.tsx";
import type { Execution } from "../../execution/advice.ts";
import { toRetrieveProgram } from "../../quantum/programs.ts";
import { hasOptions, readOptions, toSameRequest } from "../../quantum/same-request.ts";
import { ConfirmButton } from "../../ui/confirm.tsx";
import { CopyAs } from "../../ui/copy-as.tsx";
import { notifyDone } from "../../ui/notify.ts";
import { RunAgainButton } from "../../ui/run-again-button.tsx";

const route = getRouteApi("/in/o/$org/quantum-jobs/$id");

/** A job, and the execution that it is. */
export interface JobProps {
  readonly job: QuantumJob;
  readonly execution: Execution;
}

/** What can be done with a quantum job. */
export function JobActions({ job, execution }: JobProps) {
  const { id } = job;
  const { id: organizationId } = useOrganisation();
  const cancel = useChange("cancelQuantumJob", {
    done: "It is being cancelled.",
    refresh: ["getQuantumJob", "listQuantumJobs", "getExecution", "listExecutions", "countExecutions"],
  });
  return (
    <>
      <CopyAs
        op="getQuantumJobResult"
        request={{ params: { id } }}
        id={id}
        command={`platform quantum result ${id}`}
        more={[
          ["Python (SDK)", toRetrieveProgram(id, { origin: globalThis.location.origin, organizationId })],
        ]}
      />
      {!execution.terminal && (
        <ConfirmButton
          op="cancelQuantumJob"
          label={execution.isCancelRequested ? "Cancelling" : "Cancel"}
          question="Cancel this quantum job?"
          shortcut="c"
          run={() => cancel.run({ params: { id } })}
        >
          What waits ends at once, what runs within seconds; a job that was cancelled has no result.
        </ConfirmButton>
      )}
      <RunAgain job={job} execution={execution} />
    </>
  );
}

/** Starts a job with the same input and options, byte by byte, on the version that the backend or the session has. */
export function RunAgain({ job, execution, isSmall = false }: JobProps & { readonly isSmall?: boolean }) {
  const { id } = job;
  const scope = useScope();
  const { slug } = useOrganisation();
  const navigate = route.useNavigate();
  const start = useChange("createQuantumJob", {
    refresh: ["listQuantumJobs", "listQuantumSessionJobs", "listExecutions", "countExecutions"],
  });
  const run = async (idempotencyKey: string) => {
    const request = { params: { id } };
    const [input, sent, session] = await Promise.all([
      readText(scope, "getQuantumJobInput", request),
      hasOptions(job) ? readText(scope, "getExecutionInput", request) : null,
      job.session_id === null ? null : scope.api.getQuantumSession({ params: { id: job.session_id } }),
    ]);
    const isOutside = session?.accept_jobs === false;
    const options = sent === null ? "{}" : readOptions(sent, job);
    const body = { json: toSameRequest(job, { input, options }, isOutside) };
    const started = await start.run({ body, idempotencyKey });
    if (isOutside) notifyDone("Its session takes no jobs any more: it runs outside of one.");
    const params = { org: slug, id: started.id };
    return () => navigate({ to: "/o/$org/quantum-jobs/$id", params, search: {} });
  };
  return (
    <RunAgainButton
      {...(isSmall ? { size: "compact-sm", variant: "default" } : { shortcut: "r" })}
      op="createQuantumJob"
      id={id}
      hasInput={execution.inputBytes !== undefined}
      start={run}
    />
  );
}
