import type { LogEntry } from "@platform/contract/execution";
import { defineCommand } from "../base/command.ts";
import { createInterruption } from "../base/errors.ts";
import { createItemWriter } from "../base/item-writer.ts";
import type { Output } from "../base/output.ts";
import { cleanText } from "../base/output.ts";
import { openSession } from "../base/session.ts";
import type { PlatformClient } from "../base/session.ts";
import { pause, retryRead } from "../base/wait.ts";
import { streamJob } from "../jobs/stream-job.ts";

const POLL_INTERVAL_MS = 700;

/** `platform logs`: writes lines as they are read, so that the whole log is never in memory. */
export const logsCommand = defineCommand({
  name: "logs",
  summary: "Print the log lines of a job",
  description: [
    "What the job wrote to standard output, standard error and logging, with time (UTC) and severity.",
    "With --json: an array of {timestamp, severity, message}; with --follow it is written as the lines arrive.",
  ],
  arguments: { id: { description: "Id of the job", required: true } },
  options: {
    follow: { kind: "flag", short: "f", description: "Continue until the job is finished" },
  },
  examples: [
    { command: "platform logs 0198c1de-7a53-7000-8000-000000000000", comment: "The lines so far" },
    {
      command: "platform logs --follow 0198c1de-7a53-7000-8000-000000000000",
      comment: "All lines, until the job ends",
    },
  ],
  run: async (context, { arguments: { id }, options }) => {
    const { client } = await openSession(context);
    const writer = createItemWriter<LogEntry>(context.output, (entry) => formatEntry(entry, context.output));
    try {
      const log = { id, signal: context.signal };
      const lines = options.follow ? followLog(client, log) : readLog(client, { ...log, isFollowed: false });
      for await (const entries of lines) writer.add(entries);
    } catch (error) {
      writer.abort();
      throw error;
    }
    writer.end();
    return { json: undefined, succeeded: true };
  },
});

interface LogReading {
  readonly id: string;
  /** Wait for more lines until the job is finished. Only then is a failed read retried. */
  readonly isFollowed: boolean;
  readonly signal: AbortSignal;
  /** Where to begin; default: with the first line. */
  readonly cursor?: string | null;
}

/**
 * The lines as they come, until the job ends: by its stream of events, or by polling where there is none.
 *
 * @throws UserError INTERRUPTED once `signal` aborts
 */
async function* followLog(
  client: PlatformClient,
  { id, signal }: Pick<LogReading, "id" | "signal">,
): AsyncGenerator<readonly LogEntry[]> {
  for await (const event of streamJob(client, id, signal)) {
    if (event.type === "log") yield event.entries;
    if (event.type === "lost") yield* readLog(client, { id, isFollowed: true, signal, cursor: event.cursor });
  }
  if (signal.aborted) throw createInterruption();
}

/**
 * Reads a log page by page; each line is fetched once.
 *
 * @throws UserError INTERRUPTED once `signal` aborts
 */
async function* readLog(
  client: PlatformClient,
  { id, isFollowed, signal, cursor = null }: LogReading,
): AsyncGenerator<readonly LogEntry[]> {
  let query: { readonly cursor?: string } = cursor === null ? {} : { cursor };
  for (;;) {
    const readPage = () => client.getJobLog({ params: { id }, query });
    const { items, nextCursor } = isFollowed ? await retryRead(readPage, signal) : await readPage();
    yield items;
    if (signal.aborted) throw createInterruption();
    const isAtEnd = nextCursor === null || (items.length === 0 && !isFollowed);
    if (isAtEnd) return;
    query = { cursor: nextCursor };
    if (items.length === 0) await pause(POLL_INTERVAL_MS, signal);
  }
}

function formatEntry(entry: LogEntry, output: Output): string {
  const name: string = entry.severity;
  const isBad = name === "ERROR" || name === "CRITICAL";
  const severity = name.padEnd("CRITICAL".length);
  return `${output.paint("dim", entry.timestamp)} ${isBad ? output.paint("red", severity) : severity} ${cleanText(entry.message)}`;
}
