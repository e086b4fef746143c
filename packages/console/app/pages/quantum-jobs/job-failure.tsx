import { Alert, Group, Stack, Text } from "@mantine/core";
import { explainCode } from "../../execution/advice.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { explainBackendCode } from "../../quantum/advice.ts";
import type { JobStep } from "../../quantum/advice.ts";
import { CopyLine } from "../../ui/copy-button.tsx";
import { ButtonLink } from "../../ui/link.tsx";
import { RunAgain } from "./job-actions.tsx";
import type { JobProps } from "./job-actions.tsx";

/** Why a job did not complete: the code, what it means, what the backend says, what to do, and the next step. */
export function JobFailure({ job, execution }: JobProps) {
  const { error, status } = job;
  if (error === null) return null;
  const ofBackend = explainBackendCode(error.code);
  const explained = ofBackend ?? explainCode(execution);
  return (
    <Alert
      color={status === "CANCELLED" ? "gray" : "red"}
      variant="light"
      title={explained?.meaning ?? "The backend has ended it with a code of its own."}
      mb="md"
    >
      <Stack gap={8}>
        <Text
          fz="sm"
          c="var(--mantine-color-text)"
          style={{ overflowWrap: "anywhere", whiteSpace: "pre-wrap" }}
        >
          <span className="mono">{error.code}</span>
          {error.detail !== explained?.meaning && ` ${error.detail}`}
        </Text>
        {explained !== null && (
          <Text fz="sm" c="var(--mantine-color-text)">
            <b>What to do:</b> {explained.advice}
          </Text>
        )}
        <Group gap="sm" c="var(--mantine-color-text)">
          {ofBackend === null ? (
            <NextOfExecution job={job} execution={execution} />
          ) : (
            <Next step={ofBackend.next} job={job} execution={execution} />
          )}
        </Group>
      </Stack>
    </Alert>
  );
}

/** Of a code that any execution may have; the log is where to look for one that is the backend's own. */
function NextOfExecution({ job, execution }: JobProps) {
  const next = explainCode(execution)?.next ?? { kind: "tab", tab: "log" };
  if (next.kind === "copy") return <CopyLine text={next.text} what={next.what} />;
  return <Next step={next.kind === "run" ? "run" : next.tab} job={job} execution={execution} />;
}

const TABS = {
  log: { tab: "log", label: "Read the log" },
  input: { tab: "circuit", label: "Look at the input" },
} as const;

function Next({ step, job, execution }: JobProps & { readonly step: JobStep }) {
  const { slug: org } = useOrganisation();
  if (step === "run") return <RunAgain job={job} execution={execution} isSmall />;
  const button = { size: "compact-sm", variant: "default" } as const;
  if (step === "backend")
    return (
      <ButtonLink
        to="/o/$org/backends/$id"
        params={{ org, id: job.backend_id }}
        search={{ tab: "configuration" }}
        {...button}
      >
        What the backend runs
      </ButtonLink>
    );
  const { tab, label } = TABS[step];
  return (
    <ButtonLink to="/o/$org/quantum-jobs/$id" params={{ org, id: job.id }} search={{ tab }} {...button}>
      {label}
    </ButtonLink>
  );
}
