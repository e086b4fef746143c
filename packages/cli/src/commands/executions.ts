import type { ExecutionDetails, ExecutionSummary } from "@platform/contract/platform-api/executions";
import { SECOND } from "@platform/engine/base/time";
import { defineCommand } from "../base/command.ts";
import { UserError } from "../base/errors.ts";
import { cleanText } from "../base/output.ts";
import type { Output } from "../base/output.ts";
import { openSession } from "../base/session.ts";
import type { PlatformClient } from "../base/session.ts";
import { FILTER_OPTIONS, readFilter } from "./execution-filter.ts";
import type { ExecutionQuery } from "./execution-filter.ts";

const PAGE = 100;
const MOST = 1_000;
/** Requests for one list: each looks at thousands of executions. */
const MOST_REQUESTS = 100;

/** `platform executions ls`: the newest ones that the options want. */
export const listExecutionsCommand = defineCommand({
  name: "executions ls",
  isDefault: true,
  summary: "List the executions of the organisation, whoever started them",
  description: [
    "Newest first: jobs of its members, what its applications have started (outgoing), and what others have started of its services (incoming).",
    "A filter that the platform has no index for makes it look at all executions: give a time or a state besides.",
  ],
  arguments: {},
  options: {
    ...FILTER_OPTIONS,
    limit: {
      kind: "number",
      placeholder: "number",
      default: 25,
      minimum: 1,
      maximum: MOST,
      isInteger: true,
      description: "How many at most",
    },
  },
  examples: [
    { command: "platform executions", comment: "The newest 25" },
    { command: "platform executions ls --status PENDING,RUNNING", comment: "What is in flight" },
    {
      command: 'platform executions ls --code TIMEOUT --after "2026-11-24 00:00:00" --json',
      comment: "What ran too long today, for a program",
    },
  ],
  run: async (context, { options: { limit, ...filter } }) => {
    const { client } = await openSession(context);
    const query = await readFilter(context, client, filter);
    const { items, isMore } = await readExecutions(client, query, limit);
    const { output } = context;
    output.printTable(HEADER, items.map(toRow), "No execution is as the options say.");
    if (isMore) output.note(`There are more: pass a higher --limit (at most ${MOST}), or narrow the list.`);
    return { json: items, succeeded: true };
  },
});

/** `platform executions show`. */
export const showExecutionCommand = defineCommand({
  name: "executions show",
  summary: "Show an execution, and why it waits",
  description: [
    "State, times, code and what it used; while it waits, how many are before it and what is free.",
    "'platform result' and 'platform logs' are for jobs; the platform API has input, result and log of each execution.",
  ],
  arguments: { id: { description: "Id of the execution", required: true } },
  options: {},
  examples: [
    { command: "platform executions show 0198c1de-7a53-7000-8000-000000000000", comment: "One of them" },
  ],
  run: async (context, { arguments: { id } }) => {
    const { client } = await openSession(context);
    const execution = await client.getExecution({ params: { id } });
    const explanation = execution.terminal ? null : await client.explainExecution({ params: { id } });
    printDetails(context.output, execution);
    if (explanation !== null)
      context.output.print(`Why      ${explanation.reason}: ${cleanText(explanation.text)}`);
    return {
      json: { ...execution, ...(explanation === null ? {} : { explanation }) },
      succeeded: true,
    };
  },
});

/** Goes on behind pages that are empty since nothing was found among what one request looks at. */
async function readExecutions(
  client: PlatformClient,
  query: ExecutionQuery,
  limit: number,
): Promise<{ readonly items: readonly ExecutionSummary[]; readonly isMore: boolean }> {
  const items: ExecutionSummary[] = [];
  let cursor: string | null = null;
  for (let requests = 0; requests < MOST_REQUESTS; requests += 1) {
    const page: Awaited<ReturnType<PlatformClient["listExecutions"]>> = await client.listExecutions({
      query: {
        ...query,
        limit: Math.min(PAGE, limit - items.length),
        ...(cursor === null ? {} : { cursor }),
      },
    });
    items.push(...page.items.slice(0, limit - items.length));
    if (page.nextCursor === null) return { items, isMore: false };
    if (items.length >= limit) return { items, isMore: true };
    if (page.nextCursor === cursor)
      throw new UserError("INVALID_ANSWER", "The platform answers with a list that does not end.");
    cursor = page.nextCursor;
  }
  return { items, isMore: true };
}

const HEADER = ["CREATED", "STATE", "SERVICE", "KIND", "WHO", "WAITED", "RAN", "CODE", "ID"];

function toRow(execution: ExecutionSummary): readonly string[] {
  const { createdAt, status, service, version, kind, waitedMs, ranMs, code, id } = execution;
  return [
    createdAt,
    status,
    cleanText(`${service.name}@${version}`),
    kind,
    describeStarter(execution),
    formatSpan(waitedMs),
    ranMs === undefined ? "-" : formatSpan(ranMs),
    cleanText(code ?? "-"),
    id,
  ];
}

function describeStarter({ application }: ExecutionSummary): string {
  if (application === undefined) return "member";
  const name = application.name ?? application.id;
  return cleanText(
    application.organizationName === undefined ? name : `${application.organizationName} / ${name}`,
  );
}

function formatSpan(milliseconds: number): string {
  if (milliseconds < SECOND) return `${milliseconds} ms`;
  const seconds = milliseconds / SECOND;
  return seconds < 100 ? `${seconds.toFixed(1)} s` : `${Math.round(seconds)} s`;
}

function printDetails(output: Output, execution: ExecutionDetails): void {
  const { service, version, kind, code, detail, ranMs, cpuMs, startedAt, endedAt, expiresAt } = execution;
  const lines: readonly (readonly [name: string, value: string | undefined])[] = [
    ["Id", execution.id],
    ["Status", execution.status],
    ["Code", code],
    ["Detail", detail],
    ["Service", `${service.name} ${version}`],
    ["Kind", kind],
    ["Started by", kind === "job" ? undefined : describeStarter(execution)],
    ["Created", execution.createdAt],
    ["Waited", formatSpan(execution.waitedMs)],
    ["Started", startedAt],
    ["Ran", ranMs === undefined ? undefined : formatSpan(ranMs)],
    ["CPU time", cpuMs === undefined ? undefined : formatSpan(cpuMs)],
    ["Ended", endedAt],
    ["Expires", expiresAt],
  ];
  for (const [name, value] of lines)
    if (value !== undefined) output.print(`${name.padEnd(LABEL)} ${cleanText(value)}`);
}

const LABEL = 8;
