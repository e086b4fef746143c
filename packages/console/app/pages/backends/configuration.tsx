import { Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import type { Backend } from "@platform/contract/quantum-api/backends";
import { readCouplings } from "../../quantum/connectivity.ts";
import { FORMAT_WORDS } from "../../quantum/circuits.ts";
import { Facts } from "../../ui/facts.tsx";
import { formatCount } from "../../util/units.ts";
import { CouplingMap } from "./coupling-map.tsx";
import { describeRange, describeSize } from "../../quantum/words.ts";

type Described = NonNullable<Backend["configuration"]>;

/** What jobs may ask of a backend. */
export function Configuration({ of: { configuration } }: { readonly of: Backend }) {
  if (configuration === undefined) return <Text c="dimmed">The backend does not say.</Text>;
  return (
    <Stack gap="xl">
      <Facts of={describe(configuration)} />
      <Names title="Gates" names={listGates(configuration)} />
      <Names title="Instructions" names={configuration.instructions ?? []} />
      <Names title="Options of its own" names={configuration.operations ?? []} />
      <Connectivity of={configuration} />
    </Stack>
  );
}

function describe(configuration: Described): Readonly<Record<string, ReactNode>> {
  const { method_qubits: methods, qpy, total_shots_range: allShots } = configuration;
  return {
    Size: describeSize({ configuration }),
    Interactions:
      configuration.interaction_count === undefined
        ? undefined
        : `${formatCount(configuration.interaction_count)} at most`,
    "By method":
      methods === undefined
        ? undefined
        : Object.entries(methods)
            .map(([method, qubits]) => `${method} ${formatCount(qubits)}`)
            .join(", "),
    Shots: describeRange(configuration.shots_range),
    "Shots of a job": allShots === undefined ? undefined : describeRange(allShots),
    "Circuits of a job": `${formatCount(configuration.max_pubs_per_job)} at most`,
    Formats: configuration.supported_input_formats.map((format) => FORMAT_WORDS[format] ?? format).join(", "),
    "Versions of QPY": qpy === undefined ? undefined : describeRange(qpy),
    "Each shot": configuration.memory_result_supported ? "is in the result" : "is counted only",
  };
}

function listGates({ gates = [] }: Described): readonly string[] {
  return gates.map(({ name, native_gate: isNative }) => (isNative ? name : `${name} (rewritten)`));
}

function Names({ title, names }: { readonly title: string; readonly names: readonly string[] }) {
  if (names.length === 0) return null;
  return (
    <section aria-label={title}>
      <Title order={2} fz="md" mb={6}>
        {title} <Text span c="dimmed" fz="sm" fw={400}>{`(${formatCount(names.length)})`}</Text>
      </Title>
      <Text className="mono" fz="sm" maw="90ch">
        {names.join("  ")}
      </Text>
    </section>
  );
}

function Connectivity({ of: configuration }: { readonly of: Described }) {
  const couplings = readCouplings(configuration);
  if (configuration.connectivity === undefined) return null;
  return (
    <section aria-label="Connectivity">
      <Title order={2} fz="md" mb={6}>
        Connectivity
      </Title>
      {couplings === null ? (
        <Text>
          {configuration.connectivity.fully_connected
            ? "Gates of two qubits act on any pair."
            : "It does not say which pairs gates of two qubits act on."}
        </Text>
      ) : (
        <CouplingMap couplings={couplings} />
      )}
    </section>
  );
}
