import { Group, Stack } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { q, REFRESH_MS, useLoaded } from "../../api/queries.ts";
import { useOrganisation } from "../../api/scope.tsx";
import type { Execution } from "../../execution/advice.ts";
import { ExplainWaiting } from "../../execution/explain-waiting.tsx";
import { StateBadge } from "../../execution/state-badge.tsx";
import { Timeline } from "../../execution/timeline.tsx";
import { useFollowed } from "../../execution/use-followed.ts";
import { AppLink } from "../../ui/link.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { RoutedTabs } from "../../ui/routed-tabs.tsx";
import { ExecutionActions } from "./execution-actions.tsx";
import { ExecutionFacts } from "./execution-facts.tsx";
import { FailureNote } from "./failure-note.tsx";
import { FilesTab } from "./files-tab.tsx";
import { LogTab } from "./log-tab.tsx";
import { ReportedProgress } from "./reported-progress.tsx";
import { RunEdited } from "./run-edited.tsx";
import { TextTab } from "./text-tab.tsx";

const route = getRouteApi("/in/o/$org/executions/$id");

/** One execution: what has become of it, why, and what to do next. */
export function ExecutionPage() {
  const { id } = route.useParams();
  // What belongs to one execution (its log, its stream) is not carried over to the next.
  return <OneExecution key={id} id={id} />;
}

function OneExecution({ id }: { readonly id: string }) {
  const { tab } = route.useSearch();
  const { slug } = useOrganisation();
  const execution = useLoaded(q("getExecution", { params: { id } }), {
    refresh: ({ terminal, kind }) =>
      terminal ? false : kind === "incoming" ? REFRESH_MS.unfinished : REFRESH_MS.list,
  });
  const isOwn = execution.kind !== "incoming";
  const followed = useFollowed(id, isOwn && (!execution.terminal || tab === "log"));
  return (
    <>
      <PageHeader
        title={`${execution.service.name} ${execution.version}`}
        above={[
          <AppLink key="all" to="/o/$org/executions" params={{ org: slug }}>
            Executions
          </AppLink>,
        ]}
        badge={<StateBadge status={execution.status} />}
        description={<span className="mono">{id}</span>}
        actions={<ExecutionActions execution={execution} />}
      />
      <FailureNote execution={execution} />
      {execution.status === "PENDING" && <ExplainWaiting id={id} />}
      {!execution.terminal && <ReportedProgress progress={followed.progress} />}
      <Timeline execution={execution} />
      <RoutedTabs
        label="Parts of the execution"
        tabs={[
          { id: "result", label: "Result", content: () => <TextTab execution={execution} part="result" /> },
          { id: "input", label: "Input", content: () => <InputTab execution={execution} /> },
          {
            id: "files",
            label: `Files (${execution.fileCount})`,
            content: () => <FilesTab execution={execution} />,
          },
          {
            id: "log",
            label: "Log",
            shortcut: "f",
            content: () => <LogTab execution={execution} followed={followed} />,
          },
          { id: "facts", label: "Facts", content: () => <ExecutionFacts execution={execution} /> },
        ]}
      />
    </>
  );
}

function InputTab({ execution }: { readonly execution: Execution }) {
  return (
    <Stack align="stretch">
      <Group>
        <RunEdited execution={execution} />
      </Group>
      <TextTab execution={execution} part="input" />
    </Stack>
  );
}
