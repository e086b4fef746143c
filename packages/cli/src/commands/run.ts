import { SECOND } from "@platform/engine/base/time";
import { createInterruption, createUsageError, UserError } from "../base/errors.ts";
import { defineCommand } from "../base/command.ts";
import type { CommandResult } from "../base/command.ts";
import type { CommandContext } from "../base/context.ts";
import { rehearseBatch, rehearseJob } from "./rehearse-job.ts";
import { readItems, runBatch } from "./run-batch.ts";
import { replayExecution } from "./replay-execution.ts";
import { findService } from "../project/find-service.ts";
import { buildStartBody } from "../jobs/job-input.ts";
import type { JobInputOptions } from "../jobs/job-input.ts";
import { describeFailure, describeProgress, paintStatus, waitForJob } from "../jobs/job.ts";
import type { Job } from "../jobs/job.ts";
import { readJobResult } from "../jobs/job-result.ts";
import { formatJobLink, openSession } from "../base/session.ts";
import type { PlatformClient, Session } from "../base/session.ts";
import { retryRead } from "../base/wait.ts";

const LONGEST_TIMEOUT = 30 * 24 * 60 * 60;

const NOT_OF_REPLAY = [
  "data",
  "params",
  "dataFile",
  "paramsFile",
  "detached",
  "version",
  "idempotencyKey",
  "dryRun",
  "startAt",
  "webhook",
  "startWithin",
] as const;

/** `platform run`: starts a job and, unless it is detached, waits until it is final. Fails when the job did not succeed. */
export const runCommand = defineCommand({
  name: "run",
  summary: "Run a deployed service as a job and print the result",
  description: [
    "Without --data and --data-file, the input is input/data.json, and {} if that file does not exist; params likewise.",
    "Waits until the job ends, then prints its state, the result and a link to the job. The exit code is 1 if the job did not succeed.",
    "--replay ID fetches version and input of an ended execution, a job or one of an application of the organisation, runs it on this machine as 'platform serve' would, and says whether the result is byte for byte the same. Nothing runs on the platform; the version must be one of the organisation's own. The exit code is 1 if the result differs.",
    "--dry-run checks version, input and limits as the start would, prints how long the job would wait, how long such jobs take and what it needs, and starts nothing; with --batch it does so for each line, and prints it of the last that would be started. The exit code is 1 if the start, or that of a line, would be refused.",
    "--batch FILE starts a job for each line of the file, up to 1,000, waits until all have ended and prints how many ended how. A line that is refused keeps no other from being started; the exit code is 1 if one was refused or did not succeed.",
    "Ctrl-C and --timeout end the waiting, not the job: see 'platform status', 'platform logs' and 'platform cancel'.",
  ],
  arguments: {
    service: {
      description: "Name or key of the service (default: the project in this folder)",
      required: false,
    },
  },
  options: {
    version: {
      kind: "text",
      placeholder: "X.Y.Z",
      description: "Version to run (default: the latest live version)",
    },
    data: { kind: "text", short: "d", placeholder: "json", description: "Input data as a JSON object" },
    params: { kind: "text", short: "p", placeholder: "json", description: "Parameters as a JSON object" },
    dataFile: {
      kind: "text",
      placeholder: "file",
      description: "File with the input data (default: input/data.json)",
    },
    paramsFile: {
      kind: "text",
      placeholder: "file",
      description: "File with the parameters (default: input/params.json)",
    },
    idempotencyKey: {
      kind: "text",
      placeholder: "key",
      description: "For 24 hours, runs with this key and the same input are one job",
    },
    dryRun: { kind: "flag", description: "Only check what the start would do; nothing is started" },
    startAt: {
      kind: "text",
      placeholder: "time",
      description:
        "Not to begin before this time, at most 7 days ahead: ISO 8601 with a zone, such as 2026-11-24T18:00:00+01:00, or 'YYYY-MM-DD HH:MM:SS' in UTC",
    },
    webhook: {
      kind: "text",
      placeholder: "url",
      description:
        "Tell this URL when the job has ended, signed with the secret of 'platform webhooks create jobs'",
    },
    startWithin: {
      kind: "text",
      placeholder: "time",
      description:
        "Fail, and never run, unless it begins within this time (from --start-at, if given): seconds, or such as 90s, 10m, 2h, 1d; at most 7d",
    },
    replay: {
      kind: "text",
      placeholder: "id",
      description: "Run this execution of the platform again, on this machine, and compare the results",
    },
    pools: {
      kind: "text",
      placeholder: "folder",
      description: "With --replay: folder of the data pools that its input names, as for 'platform serve'",
      default: "datapools",
    },
    envFile: {
      kind: "text",
      placeholder: "file",
      description: "With --replay: variables and secrets of the program (NAME=value; default: none)",
    },
    batch: {
      kind: "text",
      placeholder: "file",
      description: "Start a job for each line of this file, a JSON object with data and params; up to 1,000",
    },
    detached: { kind: "flag", description: "Only start the job and print its id" },
    timeout: {
      kind: "number",
      placeholder: "seconds",
      description: "Longest time to wait (default: until the job ends)",
      minimum: 1,
      maximum: LONGEST_TIMEOUT,
    },
  },
  exclusive: [
    ["data", "dataFile"],
    ["params", "paramsFile"],
    ...["data", "params", "dataFile", "paramsFile", "replay", "startAt", "webhook", "startWithin"].map(
      (other) => ["batch", other as "data"] as const,
    ),
    ...NOT_OF_REPLAY.map((other) => ["replay", other as "data"] as const),
    ["dryRun", "detached"],
  ],
  examples: [
    { command: "platform run", comment: "The project in this folder, with its example input" },
    { command: `platform run tsp -d '{"n": 5}' -p '{"seed": 1}'`, comment: "Input on the command line" },
    {
      command: 'platform run tsp --idempotency-key "order-4711"',
      comment: "Repeated, for example after a lost connection, it starts nothing",
    },
    {
      command: "platform run tsp --start-at 2026-11-25T02:00:00+01:00 --detached",
      comment: "At night",
    },
    {
      command: "platform run tsp --start-within 10m",
      comment: "Later, nobody needs the result any more",
    },
    {
      command: "platform run tsp --data-file big.json --detached --json",
      comment: "Start only, for a script",
    },
    {
      command: "platform run tsp --data-file big.json --dry-run",
      comment: "Would it be accepted, and when would it start?",
    },
    {
      command: "platform run tsp --batch tours.jsonl",
      comment: 'A job for each line, such as {"data": {"n": 5}}',
    },
    {
      command: "platform run tsp --batch tours.jsonl --dry-run",
      comment: "Which lines would be refused?",
    },
    {
      command: "platform run --replay 0198c1de-7a53-7000-8000-000000000000",
      comment: "The same again, on this machine",
    },
  ],
  run: async (context, { arguments: given, options }) => {
    if (options.replay !== undefined) {
      if (given.service !== undefined)
        throw createUsageError("--replay runs the service of the execution; leave the name out.");
      const { replay: id, pools, envFile, timeout = Number.POSITIVE_INFINITY } = options;
      return await replayExecution(context, { id, pools, envFile, timeout });
    }
    return await runOnPlatform(context, given.service, options);
  },
});

interface PlatformRun extends JobInputOptions {
  readonly version: string | undefined;
  readonly idempotencyKey: string | undefined;
  readonly batch: string | undefined;
  readonly dryRun: boolean;
  readonly detached: boolean;
  readonly timeout: number | undefined;
}

async function runOnPlatform(
  context: CommandContext,
  named: string | undefined,
  options: PlatformRun,
): Promise<CommandResult> {
  const { batch: file, idempotencyKey, timeout: timeoutSeconds = Number.POSITIVE_INFINITY } = options;
  const body = file === undefined ? await buildStartBody(context, options) : null;
  const session = await openSession(context);
  const service = await findService(context, session.client, named);
  const query = {
    serviceKey: service.key,
    ...(options.version === undefined ? {} : { version: options.version }),
  };
  if (file !== undefined) {
    const items = await readItems(context, file);
    const request = { query, body: { json: `{"items":[${items.join(",")}]}` }, idempotencyKey };
    if (options.dryRun) return await rehearseBatch(context, session.client, request);
    return await runBatch(context, session.client, {
      request,
      isDetached: options.detached,
      timeoutSeconds,
    });
  }
  if (body === null) throw new Error("there is a body where there is no file");
  if (options.dryRun) return await rehearseJob(context, session.client, { query, body, idempotencyKey });
  const job = await startJob(context, session, { query, body, idempotencyKey });
  if (options.detached) {
    const link = formatJobLink(session.endpoint, job.id);
    context.output.print(`Job   ${job.id} (${job.status})`);
    context.output.print(`Link  ${link}`);
    return { json: { ...job, link }, succeeded: true };
  }
  return finish(context, session, await followJob(context, session.client, job, timeoutSeconds));
}

async function startJob(
  { output }: CommandContext,
  session: Session,
  request: Parameters<PlatformClient["startJob"]>[0],
): Promise<Job> {
  let isReplayed = false;
  const client = session.connect({
    onHeaders: (headers) => {
      isReplayed = headers.has("idempotency-replayed");
    },
  });
  const job = await client.startJob(request);
  if (isReplayed) output.note(`The key has started the job ${job.id} before: no other was started.`);
  return job;
}

async function followJob(
  context: CommandContext,
  client: PlatformClient,
  job: Job,
  timeoutSeconds: number,
): Promise<Job> {
  const { output, signal } = context;
  const progress = output.startProgress(`Job ${job.id}`);
  const began = Date.now();
  let reported = "";
  const clock = setInterval(
    () => progress.detail(`${reported}${Math.round((Date.now() - began) / SECOND)} s`),
    SECOND,
  );
  let shown: string = job.status;
  try {
    const last = await waitForJob(client, job.id, {
      signal,
      timeoutSeconds,
      onState: (seen) => {
        if (seen.progress?.fraction !== undefined) reported = `${describeProgress(seen.progress)}  `;
        if (seen.status === shown) return;
        shown = seen.status;
        progress.step(`Job ${job.id}: ${seen.status}`);
      },
    });
    if (last.terminal) return last;
    if (signal.aborted) throw createInterruption(describeNextSteps(job.id));
    throw new UserError(
      "WAIT_TIMEOUT",
      `The job ${job.id} is still ${last.status} after ${timeoutSeconds} s.`,
      { hint: describeNextSteps(job.id) },
    );
  } catch (error) {
    throw signal.aborted ? createInterruption(describeNextSteps(job.id)) : error;
  } finally {
    clearInterval(clock);
    progress.stop();
  }
}

function describeNextSteps(id: string): string {
  return `The job continues. Use 'platform status ${id}' to see its state, and 'platform cancel ${id}' to cancel it.`;
}

async function finish(context: CommandContext, session: Session, job: Job) {
  const { output } = context;
  const link = formatJobLink(session.endpoint, job.id);
  const { answer, exact, stringify } = await retryRead(() => readJobResult(session, job.id), context.signal);
  const { result, metadata, code, detail, partial } = exact;
  const succeeded = job.status === "SUCCEEDED";
  output.print(`Job     ${job.id}`);
  output.print(`Status  ${paintStatus(output, job.status)}`);
  if (succeeded) output.print(`Result\n${stringify(result ?? {})}`);
  if (partial === true) output.print(`Partial result\n${stringify(result)}`);
  output.print(`Link    ${link}`);
  if (!succeeded) {
    output.note(`${output.paintNote("red", "error:")} ${describeFailure(answer)}`);
    output.note(`See its log with 'platform logs ${job.id}'.`);
  }
  return { json: { ...job, result, metadata, code, detail, partial, link }, stringify, succeeded };
}
