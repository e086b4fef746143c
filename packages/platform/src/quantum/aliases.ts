import type { BackendDescription } from "@platform/contract/quantum-api/description";
import type { BackendRecord } from "../store/backends.ts";

/** What published clients expect of a simulator of a vendor by its id. */
interface VendorFacts {
  readonly provider: string;
  readonly hardwareProvider: string;
  /** Missing: as many circuits in one job as the simulator takes. */
  readonly mostCircuits?: number;
}

/** Simulators of vendors that published programs name. Other aliases have the provider of what stands in for them. */
const VENDORS: Readonly<Record<string, VendorFacts>> = {
  "aws.sim.dm1": { provider: "AWS", hardwareProvider: "AWS", mostCircuits: 1 },
  "aws.sim.sv1": { provider: "AWS", hardwareProvider: "AWS", mostCircuits: 1 },
  "azure.ionq.simulator": { provider: "AZURE", hardwareProvider: "IONQ", mostCircuits: 1 },
  "kipu.sim.qsim": { provider: "KIPU", hardwareProvider: "KIPU", mostCircuits: 1 },
  "qudora.sim.xg1": { provider: "QUDORA", hardwareProvider: "QUDORA" },
};

/** Of three qubits and more, or of any number: of a backend that has them, such clients cannot make a target. */
const WIDE_GATES: ReadonlySet<string> = new Set(
  "ccx ccz cswap rccx rcccx mcx mcphase mcp unitary diagonal initialize pauli".split(" "),
);

/** A backend as its id promises: an alias says what stands in for it, and has what clients of that id expect. */
export function asNamed(backend: BackendRecord): BackendRecord {
  const { id, aliasOf, description } = backend;
  if (aliasOf === null) return backend;
  return { ...backend, description: describeAlias(id, aliasOf, description) };
}

function describeAlias(id: string, aliasOf: string, description: BackendDescription): BackendDescription {
  const facts = Object.hasOwn(VENDORS, id) ? VENDORS[id] : undefined;
  const { configuration } = description;
  const { gates, max_pubs_per_job } = configuration;
  return {
    ...description,
    display_name: `${id}, simulated by ${aliasOf}`,
    ...(facts === undefined ? {} : { provider: facts.provider, hardware_provider: facts.hardwareProvider }),
    configuration: {
      ...configuration,
      max_pubs_per_job: Math.min(max_pubs_per_job, facts?.mostCircuits ?? max_pubs_per_job),
      ...(gates === undefined ? {} : { gates: gates.filter(({ name }) => !WIDE_GATES.has(name)) }),
    },
  };
}
