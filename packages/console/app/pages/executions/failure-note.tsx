import { Alert, Group, Progress, Stack, Text } from "@mantine/core";
import { explainCode, refuseReplay, toReplay } from "../../execution/advice.ts";
import type { Execution, NextStep } from "../../execution/advice.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { CopyLine } from "../../ui/copy-button.tsx";
import { ButtonLink } from "../../ui/link.tsx";
import { formatBytes } from "../../util/units.ts";
import { RunAgain } from "./run-again.tsx";

const GIGABYTE = 1_073_741_824;

/** Why it did not succeed: the code, what it means, what the platform or the code says, what to do, and the next step. */
export function FailureNote({ execution }: { readonly execution: Execution }) {
  const { code, detail, status, kind } = execution;
  if (code === undefined) return null;
  const explained = explainCode(execution);
  return (
    <Alert
      color={status === "UNKNOWN" ? "orange" : "red"}
      variant="light"
      title={explained?.meaning ?? "The service has ended it with a code of its own."}
      mb="md"
    >
      <Stack gap={8}>
        <Said code={code} detail={detail === explained?.meaning ? undefined : detail} />
        {code === "OUT_OF_MEMORY" && <MemoryUse execution={execution} />}
        {explained !== null && (
          <Text fz="sm" c="var(--mantine-color-text)">
            <b>What to do:</b> {explained.advice}
          </Text>
        )}
        {kind !== "incoming" && (
          <Group gap="sm" c="var(--mantine-color-text)">
            {explained !== null && <Next step={explained.next} execution={execution} />}
            <SameRun execution={execution} />
          </Group>
        )}
      </Stack>
    </Alert>
  );
}

function Said({ code, detail }: { readonly code: string; readonly detail: string | undefined }) {
  return (
    <Text fz="sm" c="var(--mantine-color-text)" style={{ overflowWrap: "anywhere", whiteSpace: "pre-wrap" }}>
      <span className="mono">{code}</span>
      {detail !== undefined && ` ${detail}`}
    </Text>
  );
}

function SameRun({ execution }: { readonly execution: Execution }) {
  if (execution.kind !== "job" || refuseReplay(execution) !== null) return null;
  return (
    <Group gap={6} fz="sm">
      <span>The same run on your machine:</span>
      <CopyLine text={toReplay(execution.id)} what="replay command" />
    </Group>
  );
}

/** The most memory that it had, against what it might have. */
function MemoryUse({ execution: { resources, peakMemoryBytes } }: { readonly execution: Execution }) {
  if (peakMemoryBytes === undefined) return null;
  const limit = resources.memory * GIGABYTE;
  return (
    <div style={{ maxWidth: 420 }}>
      <Text fz="sm" c="var(--mantine-color-text)" mb={4}>
        Peak memory: {formatBytes(peakMemoryBytes)} of {formatBytes(limit)}
        {peakMemoryBytes < limit / 2 && "; it has asked for more at one time than was left"}
      </Text>
      <Progress
        value={Math.min(100, (peakMemoryBytes / limit) * 100)}
        color="red"
        aria-label="Peak memory of the limit"
      />
    </div>
  );
}

const TABS = { log: "Read the log", input: "Look at the input" } as const;

function Next({ step, execution }: { readonly step: NextStep; readonly execution: Execution }) {
  const { slug: org } = useOrganisation();
  if (step.kind === "run") return <RunAgain execution={execution} size="compact-sm" variant="default" />;
  if (step.kind === "copy") return <CopyLine text={step.text} what={step.what} />;
  return (
    <ButtonLink
      to="/o/$org/executions/$id"
      params={{ org, id: execution.id }}
      search={{ tab: step.tab }}
      size="compact-sm"
      variant="default"
    >
      {TABS[step.tab]}
    </ButtonLink>
  );
}
