import { MINUTE } from "../base/time.ts";
import type { JsonForm, JsonQuestion } from "./json-form.ts";
import { createScanThread } from "./scan-thread.ts";

/** Asks of files whether they are JSON objects, outside the event loop: a gigabyte takes seconds. */
export interface JsonCheck {
  /**
   * Waits for its turn. Owners have turns one after the other, however much one of them asks.
   *
   * @throws Error where the file cannot be read, the thread has ended, or this is closed
   */
  readonly ask: (owner: string, question: JsonQuestion) => Promise<JsonForm>;
  /** Ends the thread at once; who waits is refused. */
  readonly close: () => Promise<void>;
}

/** How its thread is run. */
export interface JsonCheckOptions {
  /** The thread ends when there was no question for this long; default a minute. */
  readonly idleMs?: number;
  /** Absolute path of the thread's program; default: the source. */
  readonly threadFile?: string;
}

interface Waiting {
  readonly question: JsonQuestion;
  readonly settle: (answer: JsonForm | Error) => void;
}

/** One thread, which is started by the first question. It does not keep the process running. */
export function createJsonCheck({ idleMs = MINUTE, threadFile }: JsonCheckOptions = {}): JsonCheck {
  const queues = new Map<string, Waiting[]>();
  let current: Waiting | null = null;
  let idle: NodeJS.Timeout | undefined;
  let isClosed = false;
  const thread = createScanThread((answer) => {
    const finished = current;
    current = null;
    finished?.settle(answer);
    askNext();
  }, threadFile);

  function askNext(): void {
    if (current !== null) return;
    current = takeNext(queues);
    clearTimeout(idle);
    if (current === null) idle = setTimeout(() => void thread.stop(), idleMs).unref();
    else thread.send(current.question);
  }

  return {
    ask: (owner, question) =>
      new Promise((resolve, reject) => {
        if (isClosed) return reject(new Error("the check of JSON is closed"));
        const settle = (answer: JsonForm | Error): void => {
          if (answer instanceof Error) reject(answer);
          else resolve(answer);
        };
        const queue = queues.get(owner);
        if (queue === undefined) queues.set(owner, [{ question, settle }]);
        else queue.push({ question, settle });
        askNext();
      }),
    close: async () => {
      isClosed = true;
      clearTimeout(idle);
      const refused = [...(current === null ? [] : [current]), ...[...queues.values()].flat()];
      queues.clear();
      current = null;
      for (const { settle } of refused) settle(new Error("the check of JSON is closed"));
      await thread.stop();
    },
  };
}

/** The next of the owner whose turn it is; the owner goes to the end. */
function takeNext(queues: Map<string, Waiting[]>): Waiting | null {
  for (const [owner, queue] of queues) {
    const next = queue.shift() ?? null;
    queues.delete(owner);
    if (queue.length > 0) queues.set(owner, queue);
    return next;
  }
  return null;
}
