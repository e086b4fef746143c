import { quotePython, quoteShell } from "@platform/contract/snippets/texts";
import type { Backend } from "@platform/contract/quantum-api/backends";

/** Where a program sends its jobs, and in whose name. */
interface Place {
  /** Of the platform. */
  readonly origin: string;
  readonly organizationId: string;
}

const SHOTS = 1_000;

/** Shots that the backend runs. */
export function chooseShots({ configuration }: Pick<Backend, "configuration">): number {
  const { min = 1, max = SHOTS } = configuration?.shots_range ?? {};
  return Math.min(max, Math.max(min, SHOTS));
}

/** A job as a program of the SDK: two entangled qubits, or two variables. The token is in the environment. */
export function toSdkProgram(backend: Pick<Backend, "id" | "type" | "configuration">, place: Place): string {
  const open = [
    "provider = PlatformQuantumProvider(",
    '    os.environ["PLATFORM_TOKEN"],',
    `    organization_id=${quotePython(place.organizationId)},`,
    `    endpoint=${quotePython(place.origin)},`,
    ")",
  ];
  const shots = chooseShots(backend);
  if (backend.type === "ANNEALER")
    return [
      "# pip install './sdk/python[annealing]' in a copy of the platform's repository",
      "import os",
      "import dimod",
      "from platform_quantum import PlatformQuantumProvider",
      "from platform_quantum.annealing import PlatformSampler",
      "",
      ...open,
      'problem = dimod.BinaryQuadraticModel({"a": 1, "b": 1}, {("a", "b"): -3}, "BINARY")',
      `found = PlatformSampler(${quotePython(backend.id)}, provider).sample(problem, num_reads=${shots})`,
      "print(found.first)",
    ].join("\n");
  return [
    "# pip install './sdk/python[qiskit]' in a copy of the platform's repository",
    "import os",
    "from qiskit import QuantumCircuit",
    "from platform_quantum import PlatformQuantumProvider",
    "",
    ...open,
    "circuit = QuantumCircuit(2)",
    "circuit.h(0)",
    "circuit.cx(0, 1)",
    "circuit.measure_all()",
    `job = provider.get_backend(${quotePython(backend.id)}).run(circuit, shots=${shots})`,
    "print(job.result().get_counts())",
  ].join("\n");
}

/** A job on the command line; the circuit is a file. */
export function toRunCommand(backend: Pick<Backend, "id" | "type" | "configuration">): string {
  const file = backend.type === "ANNEALER" ? "problem.json" : "bell.qasm";
  return `platform quantum run ${file} --backend ${quoteShell(backend.id)} --shots ${chooseShots(backend)}`;
}

/** A job's result by the SDK, from anywhere. */
export function toRetrieveProgram(jobId: string, place: Place): string {
  return [
    "import os",
    "from platform_quantum import PlatformQuantumProvider",
    "",
    "provider = PlatformQuantumProvider(",
    '    os.environ["PLATFORM_TOKEN"],',
    `    organization_id=${quotePython(place.organizationId)},`,
    `    endpoint=${quotePython(place.origin)},`,
    ")",
    `print(provider.retrieve_job(${quotePython(jobId)}).result())`,
  ].join("\n");
}
