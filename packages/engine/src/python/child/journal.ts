import type { Connection } from "../wire/connection.ts";
import { createLogBudget, createLogSplitter } from "./log-splitter.ts";
import type { LogSplitter } from "./log-splitter.ts";
import { createLogWriter } from "./log-writer.ts";
import type { LogWriter } from "./log-writer.ts";
import type { LogLine, RunRequest } from "../port/runtime.ts";
import type { Settings } from "../port/settings.ts";
import { createTimers } from "../../base/timers.ts";

/** Limit of draining, in multiples of `drainMs`, for a process that was blocked on its output at the end. */
const MAX_DRAINS = 40;

/**
 * The output of an execution: read at a limited pace, within a budget, and never far ahead of the store.
 *
 * reading: lines are passed on. draining: the outcome is known, and what was printed before it still comes. closed:
 * nothing is read any more.
 */
export interface Journal {
  /** Passes on the output of both streams from now on. */
  readonly read: (stdout: Connection, stderr: Connection) => void;
  /** Passes on lines that were printed before the streams were connected. */
  readonly write: (lines: readonly LogLine[]) => void;
  /**
   * Closes when both streams have ended, when the budget is spent, or when no output that had to wait arrives for `drainMs`
   * (a background process may hold the streams open). Resolves when everything is written. Never rejects.
   */
  readonly drain: () => Promise<void>;
}

type JournalSettings = Pick<Settings, "logBytes" | "logLineBytes" | "drainMs">;

/** Reads nothing until `read`. `onLog` receives the lines in order; lines that it rejects are lost. */
export function createJournal(settings: JournalSettings, onLog: RunRequest["onLog"]): Journal {
  const budget = createLogBudget(settings.logBytes);
  const writer = createLogWriter(onLog, () => {
    for (const stream of streams) stream.wake();
  });
  const timers = createTimers<"drain">();
  let streams: readonly Connection[] = [];
  let openStreams = 0;
  let state: "reading" | "draining" | "closed" = "reading";

  function attach(stream: Connection, severity: LogLine["severity"]): void {
    const options = { severity, lineBytes: settings.logLineBytes, budget, now: Date.now };
    passOn(stream, createLogSplitter(options), writer, (is) => {
      if (is === "closed") openStreams -= 1;
      closeIfDone();
    });
  }

  function closeIfDone(): void {
    if (state === "draining" && (openStreams === 0 || budget.isSpent())) close();
  }

  function close(): void {
    state = "closed";
    timers.clear("drain");
    for (const stream of streams) stream.destroy();
    writer.close();
  }

  function awaitEnd(rounds: number): void {
    timers.set("drain", settings.drainMs, () => {
      const waited = streams.map((stream) => stream.hasWaited()).includes(true);
      if (waited && rounds > 1) awaitEnd(rounds - 1);
      else close();
    });
  }

  return {
    read: (stdout, stderr) => {
      streams = [stdout, stderr];
      openStreams = streams.length;
      attach(stdout, "INFO");
      attach(stderr, "WARNING");
    },
    write: (lines) => writer.add(lines, 0),
    drain: async () => {
      if (state === "reading") {
        state = "draining";
        closeIfDone();
        if (state === "draining") awaitEnd(MAX_DRAINS);
      }
      await writer.written;
    },
  };
}

/** @param onRead called after each chunk and at the end of the stream, when its lines are with the writer */
function passOn(
  stream: Connection,
  splitter: LogSplitter,
  writer: LogWriter,
  onRead: (is: "open" | "closed") => void,
): void {
  stream.attach(
    (chunk, allowance) => {
      if (writer.isBehind()) return { cost: 0, rest: chunk };
      const { lines, bytes, cost, rest } = splitter.split(chunk, allowance);
      writer.add(lines, bytes);
      onRead("open");
      return { cost, rest };
    },
    () => {
      const { lines, bytes } = splitter.end();
      writer.add(lines, bytes);
      onRead("closed");
    },
  );
}
