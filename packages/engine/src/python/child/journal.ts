import { createDeferred } from "../../base/deferred.ts";
import type { Connection } from "../wire/connection.ts";
import { createLogBudget, createLogSplitter } from "./log-splitter.ts";
import type { SplitLines } from "./log-splitter.ts";
import type { Taken } from "../wire/paced-reader.ts";
import type { LogLine, RunRequest } from "../port/runtime.ts";
import type { Settings } from "../port/settings.ts";
import { createTimers } from "../../base/timers.ts";

/** Of rendered lines that the store has not taken yet; beyond it the streams are not read, so that the writer waits. */
const MAX_UNWRITTEN_BYTES = 1024 * 1024;
/** The store is given the first line at once, and what follows in batches: a write for each turn cost it more than the lines. */
const BATCH_MS = 50;
const BATCH_BYTES = 64 * 1024;
/** A writer that had to wait at the end is read on, but not for ever: so many times `drainMs`. */
const MAX_DRAINS = 40;

/**
 * What an execution prints: read at a pace, within a budget, and never far ahead of the store.
 *
 * reading: lines are passed on. draining: the outcome is known, and what was printed before it still comes. closed:
 * nothing is read any more; `drained` settles when the store has taken everything.
 */
export interface Journal {
  /** Passes on what both streams bring from now on. */
  readonly read: (stdout: Connection, stderr: Connection) => void;
  /** Passes on what was printed before there were streams. */
  readonly write: (lines: readonly LogLine[]) => void;
  /**
   * Closes when both streams have ended, when the budget is spent, or when they bring nothing more for `drainMs` that
   * had to wait (a background process may hold them open). Resolves when everything is written. Never rejects.
   */
  readonly drain: () => Promise<void>;
}

type JournalSettings = Pick<Settings, "logBytes" | "logLineBytes" | "drainMs">;

export function createJournal(settings: JournalSettings, onLog: RunRequest["onLog"]): Journal {
  const budget = createLogBudget(settings.logBytes);
  const drained = createDeferred<undefined>();
  let streams: readonly Connection[] = [];
  let openStreams = 0;
  let writes = 0;
  let unwrittenBytes = 0;
  let state: "reading" | "draining" | "closed" = "reading";
  let batch: LogLine[] = [];
  let batchBytes = 0;
  const timers = createTimers<"batch" | "drain">();

  function add(lines: readonly LogLine[], bytes: number): void {
    if (lines.length === 0 || state === "closed") return;
    unwrittenBytes += bytes;
    batchBytes += bytes;
    for (const line of lines) batch.push(line);
    if (batchBytes >= BATCH_BYTES || !timers.has("batch")) flush();
  }

  function flush(): void {
    timers.clear("batch");
    if (batch.length === 0) return;
    timers.set("batch", BATCH_MS, flush);
    void write(batch, batchBytes);
    batch = [];
    batchBytes = 0;
  }

  async function write(lines: readonly LogLine[], bytes: number): Promise<void> {
    writes += 1;
    await onLog(lines).catch(() => undefined);
    writes -= 1;
    unwrittenBytes -= bytes;
    for (const stream of streams) stream.wake();
    settle();
  }

  function consume(
    split: (chunk: Buffer, allowance: number) => SplitLines,
    chunk: Buffer,
    allowance: number,
  ): Taken {
    if (unwrittenBytes >= MAX_UNWRITTEN_BYTES) return { cost: 0, rest: chunk };
    const { lines, bytes, cost, rest } = split(chunk, allowance);
    add(lines, bytes);
    closeIfDone();
    return { cost, rest };
  }

  function attach(connection: Connection, severity: LogLine["severity"]): void {
    const options = { severity, lineBytes: settings.logLineBytes, budget, now: Date.now };
    const splitter = createLogSplitter(options);
    connection.attach(
      (chunk, allowance) => consume(splitter.split, chunk, allowance),
      () => {
        const { lines, bytes } = splitter.end();
        add(lines, bytes);
        openStreams -= 1;
        closeIfDone();
      },
    );
  }

  function closeIfDone(): void {
    if (state === "draining" && (openStreams === 0 || budget.isSpent())) close();
  }

  function close(): void {
    flush();
    state = "closed";
    timers.clear("batch");
    timers.clear("drain");
    for (const stream of streams) stream.destroy();
    settle();
  }

  function settle(): void {
    if (state === "closed" && writes === 0) drained.resolve(undefined);
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
    write: (lines) => add(lines, 0),
    drain: async () => {
      if (state === "reading") {
        state = "draining";
        closeIfDone();
        if (state === "draining") awaitEnd(MAX_DRAINS);
      }
      await drained.promise;
    },
  };
}
