import { Button, NativeSelect, Skeleton, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { useText } from "../../api/content.ts";
import { JsonView, SHOWN_BYTES } from "../../execution/json-view.tsx";
import { FORMAT_WORDS, readCircuits } from "../../quantum/circuits.ts";
import type { ShownCircuit } from "../../quantum/circuits.ts";
import { Code } from "../../ui/code.tsx";
import { Failure } from "../../ui/failure.tsx";
import { saveText } from "../../ui/save.ts";
import { formatBytes } from "../../util/units.ts";
import type { JobProps } from "./job-actions.tsx";
import "./circuit-tab.css";

/** Characters of a circuit that are shown: more are a file. */
const MOST_SHOWN = 100_000;

/** What was sent: circuits as text, anything else as JSON. */
export function CircuitTab({ job, execution }: JobProps) {
  const size = execution.inputBytes;
  const [isWanted, setIsWanted] = useState((size ?? 0) <= SHOWN_BYTES);
  const { data, error, retry } = useText(
    "getQuantumJobInput",
    { params: { id: job.id } },
    isWanted && size !== undefined,
  );
  if (size === undefined) return <Text c="dimmed">The input is not kept any more.</Text>;
  if (!isWanted)
    return (
      <Stack align="flex-start">
        <Text>The input has {formatBytes(size)}.</Text>
        <Button variant="default" onClick={() => setIsWanted(true)}>
          Show the input
        </Button>
      </Stack>
    );
  if (error !== null) return <Failure error={error} retry={retry} />;
  if (data === undefined) return <Skeleton h={240} />;
  const circuits = readCircuits(job.input_format, parse(data));
  if (circuits === null) return <JsonView text={data} what="Input" fileName={`${job.id}-input.json`} />;
  return <Circuits of={circuits} format={job.input_format} id={job.id} />;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

interface CircuitsProps {
  readonly of: readonly ShownCircuit[];
  readonly format: string;
  readonly id: string;
}

function Circuits({ of: circuits, format, id }: CircuitsProps) {
  const [chosen, setChosen] = useState(0);
  const circuit = circuits[chosen];
  if (circuit === undefined) return null;
  return (
    <Stack>
      {circuits.length > 1 && (
        <ChooseCircuit names={circuits.map(({ name }) => name)} chosen={chosen} choose={setChosen} />
      )}
      <Text c="dimmed" fz="sm">
        {FORMAT_WORDS[format] ?? format}, {formatBytes(circuit.raw.length)}
      </Text>
      {circuit.text === null ? (
        <Text>It is binary, and is read by the backend alone: in Python, retrieve the job by the SDK.</Text>
      ) : (
        <div className="circuit-text">
          <Code text={circuit.text.slice(0, MOST_SHOWN)} language="text" what="Circuit" />
        </div>
      )}
      {circuit.text !== null && circuit.text.length > MOST_SHOWN && (
        <Text c="dimmed" fz="sm">
          The first {formatBytes(MOST_SHOWN)} are shown.
        </Text>
      )}
      <Button
        variant="default"
        style={{ alignSelf: "flex-start" }}
        onClick={() => saveText(`${id}-${chosen + 1}.${circuit.text === null ? "txt" : "qasm"}`, circuit.raw)}
      >
        Download the circuit
      </Button>
    </Stack>
  );
}

interface ChooseProps {
  readonly names: readonly (string | null)[];
  readonly chosen: number;
  readonly choose: (index: number) => void;
}

/** Which of several circuits is shown. */
export function ChooseCircuit({ names, chosen, choose }: ChooseProps) {
  return (
    <NativeSelect
      label="Circuit"
      maw={360}
      value={String(chosen)}
      data={names.map((name, index) => ({
        value: String(index),
        label: `${index + 1} of ${names.length}${name === null ? "" : `: ${name.slice(0, 100)}`}`,
      }))}
      onChange={({ currentTarget }) => choose(Number(currentTarget.value))}
    />
  );
}
