import { getRouteApi } from "@tanstack/react-router";
import { JOB_STATE_WORDS } from "@platform/contract/quantum-api/states";
import { q, REFRESH_MS, useLoaded } from "../../api/queries.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { ExplainWaiting } from "../../execution/explain-waiting.tsx";
import { LogView } from "../../execution/log-view.tsx";
import { Timeline } from "../../execution/timeline.tsx";
import { useFollowed } from "../../execution/use-followed.ts";
import { JobStateBadge } from "../../quantum/states.tsx";
import { Failure } from "../../ui/failure.tsx";
import { AppLink } from "../../ui/link.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { RoutedTabs } from "../../ui/routed-tabs.tsx";
import { CircuitTab } from "./circuit-tab.tsx";
import { JobActions } from "./job-actions.tsx";
import { JobCalibration } from "./job-calibration.tsx";
import { JobFacts } from "./job-facts.tsx";
import { JobFailure } from "./job-failure.tsx";
import { ResultTab } from "./result-tab.tsx";

const route = getRouteApi("/in/o/$org/quantum-jobs/$id");

/** One quantum job: its state, what was measured, and what was run. */
export function QuantumJobPage() {
  const { id } = route.useParams();
  // What belongs to one job (its log, its stream) is not carried over to the next.
  return <OneJob key={id} id={id} />;
}

function OneJob({ id }: { readonly id: string }) {
  const { tab } = route.useSearch();
  const { slug } = useOrganisation();
  const job = useLoaded(q("getQuantumJob", { params: { id } }), {
    refresh: ({ status }) => (JOB_STATE_WORDS[status].isFinal ? false : REFRESH_MS.list),
  });
  const execution = useLoaded(q("getExecution", { params: { id } }), {
    refresh: ({ terminal }) => (terminal ? false : REFRESH_MS.list),
  });
  const followed = useFollowed(id, !execution.terminal || tab === "log");
  const isNamed = job.name !== null && job.name.trim() !== "";
  return (
    <>
      <PageHeader
        title={isNamed ? (job.name ?? "") : `Job on ${job.backend_id}`}
        above={[
          <AppLink key="all" to="/o/$org/quantum-jobs" params={{ org: slug }}>
            Quantum jobs
          </AppLink>,
        ]}
        badge={<JobStateBadge status={job.status} />}
        description={<span className="mono">{id}</span>}
        actions={<JobActions job={job} execution={execution} />}
      />
      <JobFailure job={job} execution={execution} />
      {job.status === "PENDING" && <ExplainWaiting id={id} likelyStart={job.estimated_start} />}
      <Timeline execution={execution} />
      <RoutedTabs
        label="Parts of the job"
        tabs={[
          { id: "result", label: "Result", content: () => <ResultTab job={job} execution={execution} /> },
          {
            id: "circuit",
            label: job.input_format === "DIMOD_BQM" ? "Problem" : "Circuit",
            content: () => <CircuitTab job={job} execution={execution} />,
          },
          {
            id: "log",
            label: "Log",
            shortcut: "f",
            content: () =>
              followed.refusal === null ? (
                <LogView log={followed.log} fileName={`${id}.log`} />
              ) : (
                <Failure error={followed.refusal} />
              ),
          },
          { id: "calibration", label: "Calibration", content: () => <JobCalibration id={id} /> },
          { id: "facts", label: "Facts", content: () => <JobFacts job={job} execution={execution} /> },
        ]}
      />
    </>
  );
}
