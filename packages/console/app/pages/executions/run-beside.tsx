import { Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import { useEffect, useRef } from "react";
import { q, REFRESH_MS, useFetched } from "../../api/queries.ts";
import { useOrganisation } from "../../api/scope.tsx";
import type { Execution } from "../../execution/advice.ts";
import { ExplainWaiting } from "../../execution/explain-waiting.tsx";
import { StateBadge } from "../../execution/state-badge.tsx";
import { useFollowed } from "../../execution/use-followed.ts";
import { Failure } from "../../ui/failure.tsx";
import { AppLink } from "../../ui/link.tsx";
import { formatDuration } from "../../util/times.ts";
import { CancelExecution } from "./cancel-execution.tsx";
import { FailureNote } from "./failure-note.tsx";
import { FilesTab } from "./files-tab.tsx";
import { OmittedFiles } from "./omitted-files.tsx";
import { LogTab } from "./log-tab.tsx";
import { ReportedProgress } from "./reported-progress.tsx";
import { TextTab } from "./text-tab.tsx";
import "./run-beside.css";

/** An execution beside the form that has started it: its state, what became of it, and its log as it is written. Of each execution a part of its own (`key`). */
export function RunBeside({ id }: { readonly id: string }) {
  const part = useRef<HTMLElement>(null);
  const {
    data: execution,
    error,
    retry,
  } = useFetched(q("getExecution", { params: { id } }), {
    refresh: ({ terminal }) => (terminal ? false : REFRESH_MS.list),
  });
  const followed = useFollowed(id, true);
  useEffect(() => {
    // Where it stands below the form, one would not see that anything has happened.
    part.current?.scrollIntoView({ block: "nearest" });
  }, []);
  return (
    <section className="run-beside" aria-labelledby="run-title" ref={part}>
      <Stack>
        <Title order={2} fz="lg" id="run-title">
          Execution
        </Title>
        {execution !== undefined && <OneRun execution={execution} followed={followed} />}
        {execution === undefined && error === null && <Skeleton h={240} />}
        {execution === undefined && error !== null && <Failure error={error} retry={retry} />}
      </Stack>
    </section>
  );
}

interface OneRunProps {
  readonly execution: Execution;
  readonly followed: ReturnType<typeof useFollowed>;
}

function OneRun({ execution, followed }: OneRunProps) {
  const { id, status, code, terminal, ranMs, fileCount } = execution;
  const { slug: org } = useOrganisation();
  return (
    <>
      <Group justify="space-between" gap="sm" mih={34}>
        <Group gap="md" role="status">
          <StateBadge status={status} code={code} />
          {terminal && ranMs !== undefined && (
            <Text component="span" fz="sm" c="dimmed">
              {formatDuration(ranMs)}
            </Text>
          )}
        </Group>
        <Group gap="md">
          <AppLink to="/o/$org/executions/$id" params={{ org, id }} search={{}}>
            Open its page
          </AppLink>
          <CancelExecution execution={execution} button={{ size: "xs" }} />
        </Group>
      </Group>
      <div>
        <FailureNote execution={execution} />
        {status === "PENDING" && <ExplainWaiting id={id} />}
        {!terminal && <ReportedProgress progress={followed.progress} />}
        <TextTab execution={execution} part="result" />
      </div>
      {fileCount > 0 ? <FilesTab execution={execution} /> : <OmittedFiles execution={execution} />}
      <Title order={3} fz="md">
        Log
      </Title>
      <LogTab execution={execution} followed={followed} />
    </>
  );
}
