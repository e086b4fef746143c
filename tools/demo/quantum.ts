import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { REPOSITORY } from "../platform-process.ts";
import type { DemoCli } from "./demo-cli.ts";
import { remark, report } from "./report.ts";

const EXAMPLE = join(REPOSITORY, "examples", "qaoa");
const SDK = join(REPOSITORY, "sdk", "python", "platform_quantum");
/** The simulator that it installs. */
export const BACKEND = "sim.statevector";
/** A circuit for it. */
export const CIRCUIT = join(EXAMPLE, "input", "circuit.qasm");
const SHOTS = 1_000;
/** Equal seeds give equal shots. */
const SEED = 7;

/** How often each outcome was measured, by its bits: those of the last node first. */
type Counts = Readonly<Record<string, number>>;

/**
 * Installs a simulator, and divides the nodes of the example's graph on it, so that many edges are between the two sides: by one circuit, then by
 * the service of the example, which looks for a good circuit and needs no key for it.
 *
 * @param openIn a CLI of the same user in the folder of another project
 */
export async function runQuantum(cli: DemoCli, openIn: (project: string) => DemoCli): Promise<void> {
  const { backend_version: version } = await cli<{ backend_version: string }>(
    "backends",
    "install",
    "statevector",
  );
  report("platform backends install", `${BACKEND} ${version} is online, with Qiskit Aer installed`);
  const { job, counts } = await cli<{
    job: { id: string; status: string; usage_time_millis: number };
    counts: readonly Counts[];
  }>("quantum", "run", CIRCUIT, "--backend", BACKEND, "--shots", String(SHOTS), "--seed", String(SEED));
  report("platform quantum run", `${job.status}, ${SHOTS} shots in ${job.usage_time_millis} ms`);
  const { edges } = JSON.parse(await readFile(join(EXAMPLE, "input", "data.json"), "utf8")) as {
    edges: Edges;
  };
  remark(describeCuts(edges, counts[0] ?? {}));
  const folder = await mkdtemp(join(tmpdir(), "platform-qaoa-"));
  try {
    await cp(EXAMPLE, folder, { recursive: true });
    await cp(SDK, join(folder, "platform_quantum"), { recursive: true });
    await runService(openIn(folder), edges.length);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Deploys the example in its folder, and runs it with its example input. */
async function runService(cli: DemoCli, edges: number): Promise<void> {
  const { version } = await cli<{ version: string }>("up");
  report("platform up", `qaoa ${version} is live, with Qiskit installed`);
  const { status, result } = await cli<{ status: string; result?: { cut: number; jobs: number } }>("run");
  if (result === undefined) throw new Error(`qaoa has ended as ${status}`);
  report(
    "platform run",
    `${status}, a cut of ${result.cut} of ${edges} edges by ${result.jobs} quantum jobs`,
  );
}

type Edges = readonly (readonly [one: number, other: number])[];

/** @throws Error where nothing was measured */
function describeCuts(edges: Edges, counts: Counts): string {
  const cuts = Object.entries(counts).map(([bits, count]) => ({ cut: measureCut(edges, bits), count }));
  const total = cuts.reduce((sum, { count }) => sum + count, 0);
  if (total === 0) throw new Error("the job has no counts");
  const best = Math.max(...cuts.map(({ cut }) => cut));
  const average = cuts.reduce((sum, { cut, count }) => sum + cut * count, 0) / total;
  return `the largest cut: ${best} of ${edges.length} edges; ${average.toFixed(2)} on average, ${edges.length / 2} by chance`;
}

function measureCut(edges: Edges, bits: string): number {
  return edges.filter(([one, other]) => bits.at(-1 - one) !== bits.at(-1 - other)).length;
}
