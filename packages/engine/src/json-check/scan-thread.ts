import { Worker } from "node:worker_threads";
import { getMessage } from "../base/thrown.ts";
import type { JsonForm, JsonQuestion } from "./json-form.ts";

/** A thread that answers one question at a time. It does not keep the process running. */
export interface ScanThread {
  /** Starts the thread where there is none. Never throws. */
  readonly send: (question: JsonQuestion) => void;
  /** Leaves a thread that does not answer: the next question has another one. False: too many do not end, so it is still waited for. */
  readonly leave: () => boolean;
  /** Ends the thread without an answer. */
  readonly stop: () => Promise<void>;
}

/** A thread that waits for a disk does not end before the disk answers; each has a memory of its own. */
const MAX_LEFT = 3;

/** `take` is called once for each question that was sent, unless its thread is left or stopped. @param file see `JsonCheckOptions` */
export function createScanThread(
  take: (answer: JsonForm | Error) => void,
  file: string | URL = new URL("./check-thread.ts", import.meta.url),
): ScanThread {
  let thread: Worker | null = null;
  let left = 0;

  function start(): Worker {
    const started = new Worker(file, {
      name: "json-check",
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8, stackSizeMb: 1 },
    });
    started.unref();
    started.on("message", (answer: JsonForm | Error) => {
      if (thread === started) take(answer);
    });
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
    leave: () => {
      if (thread === null || left >= MAX_LEFT) return false;
      left += 1;
      thread.once("exit", () => (left -= 1));
      void thread.terminate();
      thread = null;
      return true;
    },
    stop: async () => {
      const stopped = thread;
      thread = null;
      await stopped?.terminate();
    },
  };
}
