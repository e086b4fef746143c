import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { findQuantumAssets } from "../base/assets.ts";

/** The backends that ship with the CLI: `name` is the folder of the project, `id` what jobs name it by. */
export const BUNDLED_BACKENDS = [
  { name: "statevector", id: "sim.statevector", text: "exact simulation by Qiskit Aer" },
  { name: "noisy", id: "sim.noisy", text: "Qiskit Aer with the noise of a device" },
  {
    name: "braket",
    id: "sim.braket",
    text: "the simulators of the Amazon Braket SDK, also with noise",
  },
  {
    name: "annealing",
    id: "sim.annealing",
    text: "samplers of binary quadratic models by D-Wave's dwave-samplers",
  },
  {
    name: "ibm",
    id: "qpu.ibm",
    text: "a device of IBM Quantum; it needs the secret IBM_QUANTUM_TOKEN and the variable IBM_QUANTUM_DEVICE of the organisation",
  },
  {
    name: "iqm",
    id: "qpu.iqm",
    text: "a quantum computer of IQM; it needs the secret IQM_TOKEN and the variable IQM_QUANTUM_COMPUTER",
  },
  {
    name: "braket-qpu",
    id: "qpu.braket",
    text: "a device of Amazon Braket; it needs the secrets AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY and the variables BRAKET_DEVICE and BRAKET_BUCKET",
  },
  {
    name: "aqt",
    id: "qpu.aqt",
    text: "a device of Alpine Quantum Technologies; it needs the secrets AQT_CLIENT_ID and AQT_CLIENT_SECRET and the variables AQT_WORKSPACE and AQT_RESOURCE",
  },
] as const;

/** What of Python's package is no part of a backend. */
const LEFT_OUT: ReadonlySet<string> = new Set(["__pycache__"]);

const isPart = (path: string): boolean => !LEFT_OUT.has(basename(path));

/** Calls `use` with the folder of a bundled backend as a project of its own: with the Python package that its program imports. */
export async function withBundledBackend<T>(
  name: string,
  use: (directory: string) => Promise<T>,
): Promise<T> {
  const { backends, sdk } = findQuantumAssets();
  const directory = await mkdtemp(join(tmpdir(), "platform-backend-"));
  try {
    await cp(join(backends, name), directory, { recursive: true, filter: isPart });
    await cp(sdk, join(directory, basename(sdk)), { recursive: true, filter: isPart });
    return await use(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
