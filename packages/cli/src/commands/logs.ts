import type { LogEntry } from "@platform/contract/execution";
import { defineCommand } from "../base/command.ts";
import { createInterruption } from "../base/errors.ts";
import type { Output } from "../base/output.ts";
import { cleanText } from "../base/output.ts";
import { openSession } from "../base/session.ts";
import type { PlatformClient } from "../base/session.ts";
import { pause, retryRead } from "../base/wait.ts";

const POLL_MILLISECONDS = 700;

export const logsCommand = defineCommand({
  name: "logs",
  summary: "Print the log lines of a job",
  description: [
    "What the job wrote to standard output, standard error and logging, with time (UTC) and severity.",
    "With --json: an array of {timestamp, severity, message}; with --follow it is written as the lines come.",
  ],
  arguments: { id: { description: "Id of the job", required: true } },
  options: {
    follow: { kind: "flag", short: "f", description: "Go on until the job is finished" },
  },
  examples: [
    { command: "platform logs 0198c1de-7a53-7000-8000-000000000000", comment: "The lines so far" },
    { command: "platform logs --follow 0198c1de-7a53-7000-8000-000000000000", comment: "Until it ends" },
  ],
  run: async (context, { arguments: { id }, options }) => {
    const { client } = await openSession(context);
    const writer = createLogWriter(context.output);
    try {
      const log = { id, isFollowed: options.follow, signal: context.signal };
      for await (const entries of readLog(client, log)) writer.add(entries);
    } catch (error) {
      writer.breakOff();
      throw error;
    }
    writer.end();
    return { json: undefined, succeeded: true };
  },
});

interface LogReading {
  readonly id: string;
  /** A read that fails is repeated only while following. */
  readonly isFollowed: boolean;
  readonly signal: AbortSignal;
}

/** Page by page: each line is fetched once. @throws an interruption once `signal` aborts */
async function* readLog(
  client: PlatformClient,
  { id, isFollowed, signal }: LogReading,
): AsyncGenerator<readonly LogEntry[]> {
  let query: { readonly cursor?: string } = {};
  for (;;) {
    const readPage = () => client.getJobLog({ params: { id }, query });
    const { items, nextCursor } = isFollowed ? await retryRead(readPage, signal) : await readPage();
    yield items;
    if (signal.aborted) throw createInterruption();
    const isAtEnd = nextCursor === null || (items.length === 0 && !isFollowed);
    if (isAtEnd) return;
    query = { cursor: nextCursor };
    if (items.length === 0) await pause(POLL_MILLISECONDS, signal);
  }
}

/** With `--json` the lines are one array, opened with the first and closed at the end. */
function createLogWriter(output: Output) {
  let written = 0;
  return {
    add: (entries: readonly LogEntry[]) => {
      for (const entry of entries) {
        if (output.isJson) output.write(`${written === 0 ? "[\n" : ",\n"}${JSON.stringify(entry)}`);
        else output.print(formatEntry(entry, output));
        written += 1;
      }
    },
    /** An array that was begun is closed, so that it can be read whatever comes after it. */
    breakOff: () => {
      if (output.isJson && written > 0) output.write("\n]\n");
    },
    end: () => {
      if (output.isJson) output.write(written === 0 ? "[]\n" : "\n]\n");
    },
  };
}

function formatEntry(entry: LogEntry, output: Output): string {
  const name: string = entry.severity;
  const isBad = name === "ERROR" || name === "CRITICAL";
  const severity = name.padEnd("CRITICAL".length);
  return `${output.paint("dim", entry.timestamp)} ${isBad ? output.paint("red", severity) : severity} ${cleanText(entry.message)}`;
}
