import { Button, Group, Paper, Progress, Text } from "@mantine/core";
import { useEffect, useRef, useSyncExternalStore } from "react";
import type { StatusRecord } from "@platform/contract/execution";
import { LogView } from "../execution/log-view.tsx";
import { StateBadge } from "../execution/state-badge.tsx";
import { CopyLine } from "../ui/copy-button.tsx";
import { Failure } from "../ui/failure.tsx";
import { formatDuration, parseTimestamp } from "../util/times.ts";
import { OutcomeView } from "./outcome-view.tsx";
import type { Run } from "./use-run.ts";

/** As local.css has it. */
const NARROW = "(max-width: 899.98px)";

interface RunPanelProps {
  /** null: nothing was run yet. */
  readonly run: Run | null;
  readonly cancel: () => void;
}

/** The newest execution of the page: its state, what became of it, and its log as it is written. */
export function RunPanel({ run, cancel }: RunPanelProps) {
  const part = useRef<HTMLElement>(null);
  const isEmpty = run === null;
  useEffect(() => {
    // Where it stands below the input, one would not see that anything has happened.
    if (!isEmpty && matchMedia(NARROW).matches) part.current?.scrollIntoView();
  }, [isEmpty]);
  return (
    <section className="local-part local-run" aria-labelledby="run-title" ref={part}>
      <h2 id="run-title">Execution</h2>
      {run === null ? (
        <Paper withBorder p="xl" radius="md">
          <Text c="dimmed">
            Nothing was run yet. Run starts the code with this input; its result and its log appear here while
            it runs.
          </Text>
        </Paper>
      ) : (
        <OneRun run={run} cancel={cancel} />
      )}
    </section>
  );
}

function OneRun({ run: { record, log, outcome, error }, cancel }: RunPanelProps & { readonly run: Run }) {
  const lines = useSyncExternalStore(log.subscribe, log.read);
  const code = outcome?.kind === "failure" ? outcome.code : undefined;
  return (
    <>
      <Group justify="space-between" gap="sm" mih={34}>
        <Group gap="md" role="status">
          <StateBadge status={record.status} code={code} />
          <Text component="span" fz="sm" c="dimmed">
            {describeTime(record)}
          </Text>
        </Group>
        {!record.terminal && error === null && (
          <Button size="xs" variant="default" onClick={cancel}>
            Cancel
          </Button>
        )}
      </Group>
      <Reported progress={record.progress} />
      {error !== null && <Failure error={error} />}
      {outcome !== null && <OutcomeView id={record.id} outcome={outcome} />}
      <h3>Log</h3>
      <LogView log={lines} fileName={`${record.id}.log`} />
      <Text component="div" fz="sm" c="dimmed">
        Execution <CopyLine text={record.id} what="id of the execution" />
      </Text>
    </>
  );
}

/** How long the code has run, as far as times in whole seconds say; empty while that is not known. */
function describeTime({ startedAt, endedAt }: StatusRecord): string {
  if (startedAt === undefined || endedAt === undefined) return "";
  const milliseconds = parseTimestamp(endedAt) - parseTimestamp(startedAt);
  if (milliseconds === 0) return "within a second";
  return milliseconds < 60_000 ? `about ${milliseconds / 1_000} s` : formatDuration(milliseconds);
}

/** What the code has said of how far it is. */
function Reported({ progress }: { readonly progress: StatusRecord["progress"] }) {
  if (progress?.fraction === undefined) return null;
  const percent = Math.round(progress.fraction * 100);
  return (
    <div>
      <Text fz="sm" mb={4} style={{ overflowWrap: "anywhere" }}>
        {percent} % {progress.message}
      </Text>
      <Progress value={percent} aria-label="Progress" />
    </div>
  );
}
