import { JOB_STATES } from "@platform/contract/quantum-api/jobs";
import { defineCommand } from "../base/command.ts";
import { UserError, createUsageError } from "../base/errors.ts";
import { cleanLine } from "../base/output.ts";
import { openSession } from "../base/session.ts";
import { describeCost } from "../quantum/costs.ts";
import { buildJobBody } from "../quantum/job-body.ts";
import { describeEnd, printResult } from "../quantum/print-result.ts";
import { readCircuit } from "../quantum/read-circuit.ts";
import { describeNextSteps, hasEnded, waitForQuantumJob } from "../quantum/wait-for-job.ts";
import { FILTER_OPTIONS } from "./execution-filter.ts";

const MOST_SHOTS = 1_000_000_000;
/** How long a cancellation is waited for: a vendor has 15 seconds for it. */
const SETTLE_SECONDS = 20;

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
    detached: { kind: "flag", description: "Only start the job and print its id" },
  },
  exclusive: [["dryRun", "detached"]],
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
    const circuit = await readCircuit(context.directory, file);
    const body = buildJobBody(options.backend, circuit, options);
    const session = await openSession(context);
    const { idempotencyKey } = options;
    let isReplayed = false;
    const quantum = session.connectQuantum({
      onHeaders: (headers) => {
        isReplayed = headers.has("idempotency-replayed");
      },
    });
    const started = await quantum.createQuantumJob({ body, idempotencyKey });
    if (isReplayed)
      context.output.note(`The key has started the job ${started.id} before: no other was started.`);
    if (options.detached) {
      context.output.print(started.id);
      return { json: started, succeeded: true };
    }
    const what = `${options.dryRun ? "Dry run" : "Job"} ${started.id} on ${started.backend_id} ${started.backend_version}`;
    const onInterrupt = describeNextSteps(started);
    const waiting = { what, onInterrupt, timeoutSeconds: Number.POSITIVE_INFINITY };
    return await printResult(
      context,
      session,
      await waitForQuantumJob(context, session.quantum, started, waiting),
    );
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
    name: { kind: "text", placeholder: "text", description: "Only those with this text in their name" },
    session: { kind: "text", placeholder: "id", description: "Only those of this session" },
    after: FILTER_OPTIONS.after,
    before: FILTER_OPTIONS.before,
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
  examples: [
    { command: "platform quantum jobs --status FAILED", comment: "What failed" },
    {
      command: 'platform quantum jobs --after "2026-11-28 00:00:00" --before "2026-11-29 00:00:00"',
      comment: "Those of a day",
    },
  ],
  run: async (context, { options }) => {
    const { backend, status, tag, name, session, after, before, limit, page } = options;
    const { quantum } = await openSession(context);
    const state = JOB_STATES.find((known) => known === status);
    const found = await quantum.listQuantumJobs({
      query: {
        page,
        size: limit,
        ...(backend === undefined ? {} : { backendId: backend }),
        ...(state === undefined ? {} : { status: state }),
        ...(tag === undefined ? {} : { tag: [tag] }),
        ...(name === undefined ? {} : { name }),
        ...(session === undefined ? {} : { sessionId: session }),
        ...(after === undefined ? {} : { createdAfter: after }),
        ...(before === undefined ? {} : { createdBefore: before }),
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
        cleanLine(job.name ?? ""),
      ]),
      "No quantum jobs that match. 'platform quantum run bell.qasm --backend sim.statevector' starts one.",
    );
    if (!found.last)
      context.output.note(`${found.total_elements} jobs in all; --page ${page + 1} has the next ones.`);
    return { json: found, succeeded: true };
  },
});

/** `platform quantum show`: does not wait. */
export const showQuantumJobCommand = defineCommand({
  name: "quantum show",
  summary: "Show the state of a quantum job",
  description: [
    "Its place in the queue, and when it is likely to begin, where that is known. Does not wait.",
  ],
  arguments: ID,
  options: {},
  examples: [{ command: "platform quantum show 0198c1de-7a53-7000-8000-000000000000", comment: "By its id" }],
  run: async (context, { arguments: { id } }) => {
    const { output } = context;
    const { quantum } = await openSession(context);
    const job = await quantum.getQuantumJob({ params: { id } });
    output.print(`Job       ${job.id}  ${cleanLine(job.name ?? "")}`.trimEnd());
    output.print(`Backend   ${job.backend_id} ${job.backend_version}`);
    output.print(`State     ${describeEnd(job)}`);
    output.print(`Created   ${job.created_at}`);
    for (const [word, value] of [
      ["Waiting", job.queue_position === null ? null : `${job.queue_position} jobs before it`],
      ["Begins", job.estimated_start === null ? null : `likely at ${job.estimated_start}`],
      ["Started", job.started_at],
      ["Ended", job.ended_at],
      ["Cost", job.currency === null ? null : describeCost(job)],
    ] as const)
      if (value !== null) output.print(`${word.padEnd(9)} ${value}`);
    return { json: job, succeeded: true };
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
  options: {
    normalized: {
      kind: "flag",
      description: "As JSON in one form, whatever SDK has sent the job",
    },
  },
  examples: [
    { command: "platform quantum result 0198c1de-7a53-7000-8000-000000000000", comment: "Counts" },
    {
      command: "platform quantum result 0198c1de-7a53-7000-8000-000000000000 --normalized",
      comment: "Counts of any SDK's job",
    },
  ],
  run: async (context, { arguments: { id }, options: { normalized } }) => {
    const session = await openSession(context);
    const job = await session.quantum.getQuantumJob({ params: { id } });
    if (!hasEnded(job))
      throw new UserError("RESULT_NOT_READY", `The job is ${job.status}: it has not ended.`, {
        hint: `Ask again later, or cancel it with 'platform quantum cancel ${id}'.`,
      });
    if (!normalized || job.status !== "COMPLETED") return await printResult(context, session, job);
    const result = await session.quantum.getNormalQuantumJobResult({ params: { id } });
    context.output.print(JSON.stringify(result, null, 2));
    return { json: { job, result }, succeeded: true };
  },
});

/** `platform quantum cancel`: waits up to 20 s for the job to end, then prints its state. Fails when the job had a result. */
export const cancelQuantumCommand = defineCommand({
  name: "quantum cancel",
  summary: "Cancel a quantum job",
  description: [
    "One that waits ends at once, one that runs within seconds. Its state is then CANCELLED.",
    "A job that had ended before stays as it is. The exit code is 1 if it had completed.",
  ],
  arguments: ID,
  options: {},
  examples: [
    { command: "platform quantum cancel 0198c1de-7a53-7000-8000-000000000000", comment: "By its id" },
  ],
  run: async (context, { arguments: { id } }) => {
    const { output } = context;
    const { quantum } = await openSession(context);
    await quantum.cancelQuantumJob({ params: { id } });
    const asked = await quantum.getQuantumJob({ params: { id } });
    const waiting = {
      what: `Cancelling job ${asked.id}`,
      onInterrupt: "Its cancellation was requested.",
      timeoutSeconds: SETTLE_SECONDS,
    };
    const job = hasEnded(asked) ? asked : await waitForQuantumJob(context, quantum, asked, waiting);
    if (!hasEnded(job)) output.print(`The job is ${job.status}; its cancellation was requested.`);
    else if (job.status === "CANCELLED") output.print("The job was cancelled.");
    else if (job.status === "COMPLETED") output.print("The job was already COMPLETED; it was not cancelled.");
    else output.print(`The job had already ended; it was not cancelled. ${describeEnd(job)}`);
    return { json: job, succeeded: job.status !== "COMPLETED" };
  },
});
