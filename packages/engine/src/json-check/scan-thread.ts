import { Worker } from "node:worker_threads";
import { getMessage } from "../base/thrown.ts";
import type { JsonForm, JsonQuestion } from "./json-form.ts";

/** A thread that answers one question at a time. It does not keep the process running. */
export interface ScanThread {
  /** Starts the thread where there is none. Never throws. */
  readonly send: (question: JsonQuestion) => void;
  /** Ends the thread without an answer. */
  readonly stop: () => Promise<void>;
}

/** `take` is called once for each question that was sent, unless the thread is stopped. @param file see `JsonCheckOptions` */
export function createScanThread(
  take: (answer: JsonForm | Error) => void,
  file: string | URL = new URL("./check-thread.ts", import.meta.url),
): ScanThread {
  let thread: Worker | null = null;

  function start(): Worker {
    const started = new Worker(file, {
      name: "json-check",
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8, stackSizeMb: 1 },
    });
    started.unref();
    started.on("message", take);
    started.on("error", () => undefined); // `exit` follows
    started.once("exit", () => {
      if (thread !== started) return;
      thread = null;
      take(new Error("the thread that checks JSON has ended"));
    });
    return started;
  }

  return {
    send: (question) => {
      try {
        thread ??= start();
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
        thread.postMessage(question);
      } catch (error) {
        take(new Error(`the thread that checks JSON cannot be asked: ${getMessage(error)}`));
      }
    },
    stop: async () => {
      const stopped = thread;
      thread = null;
      await stopped?.terminate();
    },
  };
}
