import { Alert, Group, Stack, Text } from "@mantine/core";
import { Code } from "../ui/code.tsx";
import { formatBytes } from "../util/units.ts";
import { explainLocalCode } from "./advice.ts";
import type { Outcome } from "./read-outcome.ts";

/** Longer texts are not coloured: each part of one would be an element. */
const MOST_COLOURED = 100_000;

interface OutcomeViewProps {
  /** Of the execution. */
  readonly id: string;
  readonly outcome: Outcome;
}

/** What became of an execution. */
export function OutcomeView({ id, outcome }: OutcomeViewProps) {
  if (outcome.kind === "failure") return <FailureView failure={outcome} />;
  if (outcome.kind === "large")
    return (
      <Text fz="sm">
        The result has {formatBytes(outcome.bytes)}, which is too much to be shown:{" "}
        <a href={`/${id}/result`} download={`${id}.json`} style={{ color: "var(--mantine-color-anchor)" }}>
          download it
        </a>
        .
      </Text>
    );
  return (
    <>
      <Json text={outcome.text} what="Result" />
      <Files id={id} names={outcome.files} />
    </>
  );
}

function FailureView({ failure }: { readonly failure: Extract<Outcome, { readonly kind: "failure" }> }) {
  const { code, detail, checkpoint } = failure;
  const explained = explainLocalCode(code);
  return (
    <>
      <Alert
        color={code === "WORKER_LOST" ? "orange" : "red"}
        variant="light"
        title={explained?.meaning ?? "The service has ended it with a code of its own."}
        role="alert"
      >
        <Stack gap={8}>
          <Text fz="sm" style={{ overflowWrap: "anywhere", whiteSpace: "pre-wrap" }}>
            <span className="mono">{code}</span> {detail}
          </Text>
          {explained !== null && (
            <Text fz="sm">
              <b>What to do:</b> {explained.advice}
            </Text>
          )}
        </Stack>
      </Alert>
      {checkpoint !== null && <Json text={checkpoint} what="Last checkpoint" />}
    </>
  );
}

/** JSON digit by digit as Python wrote it. */
function Json({ text, what }: { readonly text: string; readonly what: string }) {
  return (
    <>
      <h3>{what}</h3>
      <Code text={text} language={text.length > MOST_COLOURED ? "text" : "json"} what={what} />
    </>
  );
}

function Files({ id, names }: { readonly id: string; readonly names: readonly string[] }) {
  if (names.length === 0) return null;
  return (
    <Group gap="md" fz="sm">
      <span>Files:</span>
      {names.map((name) => (
        <a
          key={name}
          href={`/${id}/result/${encodeURIComponent(name)}`}
          download={name}
          style={{ color: "var(--mantine-color-anchor)", overflowWrap: "anywhere" }}
        >
          {name}
        </a>
      ))}
    </Group>
  );
}
