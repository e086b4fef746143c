import type { QuantumJob } from "@platform/contract/quantum-api/jobs";
import { JOB_STATES } from "@platform/contract/quantum-api/jobs";
import { isRecord } from "@platform/engine/base/json";
import { SECOND } from "@platform/engine/base/time";
import { defineCommand } from "../base/command.ts";
import type { CommandContext } from "../base/context.ts";
import { UserError, createUsageError } from "../base/errors.ts";
import { cleanText } from "../base/output.ts";
import type { Output } from "../base/output.ts";
import { openSession } from "../base/session.ts";
import type { QuantumClient } from "../base/session.ts";
import { pause, retryRead } from "../base/wait.ts";
import { describeCost } from "../quantum/costs.ts";
import { printEstimate } from "../quantum/print-estimate.ts";
import { readCounts } from "../quantum/counts.ts";
import { readCircuit } from "../quantum/read-circuit.ts";

const MOST_SHOTS = 1_000_000_000;
/** How long the platform may delay one answer. */
const HOLD_SECONDS = 20;
/** Outcomes that a terminal is shown of each circuit. */
const SHOWN = 16;
const FINAL: ReadonlySet<string> = new Set(JOB_STATES.slice(2));

const ID = { id: { description: "Id of the job", required: true } } as const;

/** `platform quantum run`. */
export const runQuantumCommand = defineCommand({
  name: "quantum run",
  summary: "Run a circuit on a backend",
  description: [
    "The file has OpenQASM 2 or 3, or QPY; or, for an annealer, a problem that dimod has serialized (.json). Waits for the end and prints how often each outcome was measured, with --json the job and its result.",
    "The exit code is 1 if the job did not complete.",
  ],
  arguments: { file: { description: "The circuit", required: true } },
  options: {
    backend: { kind: "text", short: "b", placeholder: "id", description: "Id of the backend" },
    shots: {
      kind: "number",
      placeholder: "count",
      description: "Repetitions; default: as the backend decides",
      minimum: 1,
      maximum: MOST_SHOTS,
      isInteger: true,
    },
    seed: {
      kind: "number",
      placeholder: "number",
      description: "The same seed has the same result on a deterministic backend",
      minimum: 0,
      maximum: 2 ** 32 - 1,
      isInteger: true,
    },
    params: { kind: "text", placeholder: "json", description: "More options of the backend, a JSON object" },
    name: { kind: "text", placeholder: "text", description: "Name of the job" },
    tags: { kind: "text", placeholder: "tags", description: "Tags, separated by commas" },
    idempotencyKey: { kind: "text", placeholder: "key", description: "The same key starts one job" },
    dryRun: {
      kind: "flag",
      description: "Have the backend only check it, and print what it would cost; nothing is run",
    },
    maxCost: {
      kind: "text",
      placeholder: "amount",
      description:
        "Run nothing if it may cost more, in the currency of the backend: with all of its time limit",
    },
    cache: {
      kind: "flag",
      description:
        "Take the result of an earlier job that ran the same, free; on a deterministic backend, with --seed",
    },
    session: {
      kind: "text",
      placeholder: "id",
      description: "Session that it is a job of ('platform quantum open')",
    },
    noWait: { kind: "flag", description: "Print the id of the job, and do not wait for its end" },
  },
  examples: [
    { command: "platform quantum run bell.qasm --backend sim.statevector --shots 1000", comment: "Counts" },
    {
      command: "platform quantum run bell.qasm --backend qpu.own --shots 1000 --dry-run",
      comment: "The cost",
    },
  ],
  run: async (context, { arguments: { file }, options }) => {
    if (options.backend === undefined)
      throw createUsageError("Name the backend: --backend sim.statevector. 'platform backends' lists them.");
    const { format, input } = await readCircuit(file);
    const { quantum } = await openSession(context);
    const started = await quantum.createQuantumJob({
      body: {
        backend_id: options.backend,
        input,
        input_format: format,
        ...describeJob(options),
        sdk_provider: "CLIENT",
      },
      idempotencyKey: options.idempotencyKey,
    });
    if (options.noWait && !options.dryRun) {
      context.output.print(started.id);
      return { json: started, succeeded: true };
    }
    const what = options.dryRun ? "Dry run" : "Job";
    context.output.note(`${what} ${started.id} on ${started.backend_id} ${started.backend_version}.`);
    const job = await waitForEnd(context, quantum, started);
    if (options.dryRun && job.status === "COMPLETED")
      return printEstimate(context.output, await quantum.getQuantumJobResult({ params: { id: job.id } }));
    return await printResult(context.output, quantum, job);
  },
});

/** `platform quantum jobs`. */
export const listQuantumJobsCommand = defineCommand({
  name: "quantum jobs",
  summary: "List quantum jobs, newest first",
  description: ["One page: --page 1 is the second."],
  arguments: {},
  options: {
    backend: { kind: "text", short: "b", placeholder: "id", description: "Only those of this backend" },
    status: {
      kind: "text",
      placeholder: "state",
      description: "Only those in this state",
      choices: JOB_STATES,
    },
    tag: { kind: "text", placeholder: "tag", description: "Only those with this tag" },
    limit: {
      kind: "number",
      placeholder: "count",
      default: 20,
      description: "Jobs of a page",
      minimum: 1,
      maximum: 100,
      isInteger: true,
    },
    page: {
      kind: "number",
      placeholder: "number",
      default: 0,
      description: "Which page, from 0",
      minimum: 0,
      maximum: 10_000,
      isInteger: true,
    },
  },
  examples: [{ command: "platform quantum jobs --status FAILED", comment: "What failed" }],
  run: async (context, { options: { backend, status, tag, limit, page } }) => {
    const { quantum } = await openSession(context);
    const state = JOB_STATES.find((known) => known === status);
    const found = await quantum.listQuantumJobs({
      query: {
        page,
        size: limit,
        ...(backend === undefined ? {} : { backendId: backend }),
        ...(state === undefined ? {} : { status: state }),
        ...(tag === undefined ? {} : { tag: [tag] }),
      },
    });
    context.output.printTable(
      ["ID", "BACKEND", "STATUS", "SHOTS", "COST", "CREATED", "NAME"],
      found.content.map((job) => [
        job.id,
        job.backend_id,
        job.status,
        job.shots === null ? "-" : String(job.shots),
        describeCost(job),
        job.created_at,
        cleanText(job.name ?? ""),
      ]),
    );
    if (!found.last)
      context.output.note(`${found.total_elements} jobs in all; --page ${page + 1} has the next ones.`);
    return { json: found, succeeded: true };
  },
});

/** `platform quantum result`: does not wait. */
export const quantumResultCommand = defineCommand({
  name: "quantum result",
  summary: "Print the result of a quantum job",
  description: [
    "Counts, or with --json the job and its result. The exit code is 1 if the job did not complete.",
  ],
  arguments: ID,
  options: {},
  examples: [{ command: "platform quantum result 0198c1de-7a53-7000-8000-000000000000", comment: "Counts" }],
  run: async (context, { arguments: { id } }) => {
    const { quantum } = await openSession(context);
    const job = await quantum.getQuantumJob({ params: { id } });
    if (!FINAL.has(job.status))
      throw new UserError("RESULT_NOT_READY", `The job is ${job.status}.`, { hint: "Ask again later." });
    return await printResult(context.output, quantum, job);
  },
});

/** `platform quantum cancel`. */
export const cancelQuantumCommand = defineCommand({
  name: "quantum cancel",
  summary: "Cancel a quantum job",
  description: [
    "One that waits ends at once, one that runs within seconds; nothing happens to one that has ended.",
  ],
  arguments: ID,
  options: {},
  examples: [
    { command: "platform quantum cancel 0198c1de-7a53-7000-8000-000000000000", comment: "By its id" },
  ],
  run: async (context, { arguments: { id } }) => {
    const { quantum } = await openSession(context);
    await quantum.cancelQuantumJob({ params: { id } });
    const asked = await quantum.getQuantumJob({ params: { id } });
    const job = await waitForEnd(context, quantum, asked);
    context.output.print(
      job.status === "CANCELLED" ? "The job was cancelled." : `The job was already ${job.status}.`,
    );
    return { json: job, succeeded: job.status === "CANCELLED" };
  },
});

async function waitForEnd(
  { signal }: Pick<CommandContext, "signal">,
  quantum: QuantumClient,
  started: QuantumJob,
): Promise<QuantumJob> {
  let job = started;
  while (!FINAL.has(job.status) && !signal.aborted) {
    const asked = Date.now();
    const ask = () => quantum.getQuantumJob({ params: { id: job.id }, prefer: `wait=${HOLD_SECONDS}` });
    job = await retryRead(ask, signal);
    // The preference may not be applied.
    if (!FINAL.has(job.status)) await pause(asked + SECOND - Date.now(), signal);
  }
  return job;
}

async function printResult(output: Output, quantum: QuantumClient, job: QuantumJob) {
  const result = await quantum.getQuantumJobResult({ params: { id: job.id } });
  const succeeded = job.status === "COMPLETED";
  if (!succeeded) {
    output.print(`Status   ${job.status}`);
    if (job.error !== null) {
      output.print(`Code     ${cleanText(job.error.code)}`);
      output.print(`Detail   ${cleanText(job.error.detail)}`);
    }
    return { json: { job, result }, succeeded };
  }
  const counts = readCounts(result);
  if (counts === null) output.print(JSON.stringify(result, null, 2));
  else
    for (const [index, circuit] of counts.entries())
      printCounts(output, circuit, counts.length > 1 ? index : null);
  return {
    json: {
      job,
      ...(counts === null ? { result } : { counts: counts.map((one) => Object.fromEntries(one)) }),
    },
    succeeded,
  };
}

function printCounts(
  output: Output,
  counts: readonly (readonly [string, number])[],
  index: number | null,
): void {
  if (index !== null) output.print(`Circuit ${index}`);
  output.printTable(
    ["OUTCOME", "COUNT"],
    counts.slice(0, SHOWN).map(([outcome, count]) => [outcome, String(count)]),
  );
  if (counts.length > SHOWN) output.note(`${counts.length - SHOWN} more outcomes; --json has all.`);
}

/** What was chosen by options, as the body of a start has it. */
function describeJob(options: {
  readonly params?: string | undefined;
  readonly seed?: number | undefined;
  readonly shots?: number | undefined;
  readonly name?: string | undefined;
  readonly tags?: string | undefined;
  readonly maxCost?: string | undefined;
  readonly dryRun: boolean;
  readonly cache: boolean;
  readonly session?: string | undefined;
}) {
  const { params, seed, shots, name, tags, maxCost, session, dryRun, cache } = options;
  return {
    input_params: { ...readParams(params), ...(seed === undefined ? {} : { seed }) },
    ...(shots === undefined ? {} : { shots }),
    ...(name === undefined ? {} : { name }),
    ...(tags === undefined ? {} : { tags: tags.split(",").map((tag) => tag.trim()) }),
    ...(maxCost === undefined ? {} : { max_cost: maxCost }),
    ...(session === undefined ? {} : { session_id: session }),
    ...(dryRun ? { dry_run: true } : {}),
    ...(cache ? { cache: true } : {}),
  };
}

function readParams(text: string | undefined): Readonly<Record<string, unknown>> {
  if (text === undefined) return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = null;
  }
  if (!isRecord(value))
    throw createUsageError('--params must be a JSON object, such as \'{"method": "automatic"}\'.');
  return value;
}
