import { MINUTE } from "../base/time.ts";
import type { JsonForm, JsonQuestion } from "./json-form.ts";
import { createScanThread } from "./scan-thread.ts";

/** Asks of files whether they are JSON objects, outside the event loop: a gigabyte takes seconds. */
export interface JsonCheck {
  /**
   * Waits for its turn. Owners have turns one after the other, however much one of them asks.
   *
   * @throws Error where the file cannot be read, or not in time, the thread has ended, or this is closed
   */
  readonly ask: (owner: string, question: JsonQuestion) => Promise<JsonForm>;
  /** Ends the thread at once; who waits is refused. */
  readonly close: () => Promise<void>;
}

/** How its thread is run. */
export interface JsonCheckOptions {
  /** The thread ends when there was no question for this long; default a minute. */
  readonly idleMs?: number;
  /** How long one file may be read; default ten minutes. */
  readonly scanForMs?: number;
  /** Absolute path of the thread's program; default: the source. */
  readonly threadFile?: string;
}

/** A gigabyte takes seconds. A file on a disk that hangs must not keep all others waiting. */
const SCAN_FOR_MS = 10 * MINUTE;

interface Waiting {
  readonly question: JsonQuestion;
  readonly settle: (answer: JsonForm | Error) => void;
}

/** One thread, which is started by the first question. It does not keep the process running. */
export function createJsonCheck({
  idleMs = MINUTE,
  scanForMs = SCAN_FOR_MS,
  threadFile,
}: JsonCheckOptions = {}): JsonCheck {
  const queues = new Map<string, Waiting[]>();
  let current: Waiting | null = null;
  let idle: NodeJS.Timeout | undefined;
  let limit: NodeJS.Timeout | undefined;
  let isClosed = false;
  const thread = createScanThread((answer) => {
    const finished = current;
    current = null;
    finished?.settle(answer);
    askNext();
  }, threadFile);

  function giveUp(): void {
    const late = current;
    if (thread.leave()) current = null;
    // Otherwise it stays the current one; only who has asked is answered.
    late?.settle(new Error("the file could not be read in time"));
    askNext();
  }

  function askNext(): void {
    if (current !== null) return;
    current = takeNext(queues);
    clearTimeout(idle);
    clearTimeout(limit);
    if (current === null) idle = setTimeout(() => void thread.stop(), idleMs).unref();
    else {
      limit = setTimeout(giveUp, scanForMs).unref();
      thread.send(current.question);
    }
  }

  return {
    ask: (owner, question) =>
      new Promise((resolve, reject) => {
        if (isClosed) return reject(new Error("the check of JSON is closed"));
        const settle = (answer: JsonForm | Error): void => {
          if (answer instanceof Error) reject(answer);
          else resolve(answer);
        };
        enqueue(queues, owner, { question, settle });
        askNext();
      }),
    close: async () => {
      isClosed = true;
      clearTimeout(idle);
      clearTimeout(limit);
      const refused = [...(current === null ? [] : [current]), ...[...queues.values()].flat()];
      queues.clear();
      current = null;
      for (const { settle } of refused) settle(new Error("the check of JSON is closed"));
      await thread.stop();
    },
  };
}

function enqueue(queues: Map<string, Waiting[]>, owner: string, waiting: Waiting): void {
  const queue = queues.get(owner);
  if (queue === undefined) queues.set(owner, [waiting]);
  else queue.push(waiting);
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
