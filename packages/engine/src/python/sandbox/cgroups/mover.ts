import { closeSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { readMonotonic } from "../../../base/monotonic.ts";
import type { KnownProcess } from "./cgroups.ts";
import { openAll } from "./group-files.ts";
import { readStartTime } from "./names.ts";

/** For longer than this after a move (some 10 ms), the kernel moves the next process without waiting. */
const QUICK_MS = 5;

/** As text: the CLI is one file. All that it does is system calls. */
const THREAD = `
const { parentPort } = require("node:worker_threads");
const { writeSync } = require("node:fs");
parentPort.on("message", ({ doors, pid }) => {
  let fault = null;
  try {
    for (const door of doors) writeSync(door, pid, 0);
  } catch (error) {
    fault = error.message;
  }
  parentPort.postMessage(fault);
});
`;

/**
 * Moves processes into groups. The kernel waits for all processors before a move, 9 ms in the middle and up to 60 on a quiet machine, unless
 * it has just done another: so the first of several is moved in a thread, which does not keep the event loop waiting. Those that come until
 * that is done wait for it; they and those that follow are moved at once, which costs less than to ask the thread.
 */
export interface Mover {
  /** Starts the thread, which takes as long as an interpreter: to be called when there will be something to move. Never throws. */
  readonly prepare: () => void;
  /** Writes the number of a process to open files, one after the other. Rejects with the text of the system's error. */
  readonly move: (doors: readonly number[], pid: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** The thread is started when it is needed, and does not keep the process running. */
export function createMover(): Mover {
  let thread: Worker | null = null;
  let movedAt = -Infinity;
  let settle: ((fault: string | null) => void) | null = null;
  /** Ends with what the thread does; those who come meanwhile need no thread then. Null: it does nothing. */
  let slow: Promise<void> | null = null;

  function start(): Worker {
    const started = createThread();
    started.on("message", (fault: string | null) => settle?.(fault));
    started.on("error", () => undefined); // `exit` follows
    started.once("exit", () => {
      if (thread === started) thread = null;
      settle?.("the thread that moves processes has ended");
    });
    return started;
  }

  function prepare(): void {
    try {
      thread ??= start();
    } catch {
      // The system gives no thread now: a move tries again, and says so.
    }
  }

  function moveInThread(doors: readonly number[], pid: number): Promise<void> {
    return new Promise((resolve, reject) => {
      settle = (fault) => {
        if (fault !== null) return reject(new Error(fault));
        movedAt = readMonotonic();
        resolve();
      };
      thread ??= start();
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      thread.postMessage({ doors, pid: String(pid) });
    });
  }

  async function move(doors: readonly number[], pid: number): Promise<void> {
    if (slow !== null) {
      await slow;
      return move(doors, pid); // another may have begun
    }
    const now = readMonotonic();
    if (now - movedAt > QUICK_MS) {
      const moved = moveInThread(doors, pid);
      const end = (): void => void (slow = null);
      slow = moved.then(end, end);
      return moved;
    }
    for (const door of doors) writeSync(door, String(pid), 0);
    movedAt = now;
  }

  return { prepare, move, close: async () => void (await thread?.terminate()) };
}

function createThread(): Worker {
  const thread = new Worker(THREAD, {
    eval: true,
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2, stackSizeMb: 1 },
  });
  thread.unref();
  return thread;
}

/** The files `cgroup.procs` of one group in all its hierarchies. */
interface Doors {
  /** See `Group.enter`. */
  readonly enter: (process: KnownProcess) => Promise<void>;
  /** While a process is being moved, it is not known which one it is. */
  readonly isMoving: () => boolean;
  /** Resolves when nothing is being written any more: the number of a closed file may be another's. */
  readonly close: () => Promise<void>;
}

/**
 * The files are opened by the first process that enters.
 *
 * A process may end, and its number be given to any process of the host, until the kernel moves what has it: some 10 ms, in which code at
 * import can have used up all other numbers. So it is looked at again afterwards.
 *
 * @param folders of the group
 * @param outside groups for processes that are none of the worker's, in the same hierarchies
 */
export function createDoors(folders: readonly string[], outside: readonly string[], mover: Mover): Doors {
  let opened: readonly number[] | null = null;
  let moving: Promise<unknown> | null = null;

  async function move(doors: readonly number[], { pid, start }: KnownProcess): Promise<void> {
    const [end] = await Promise.allSettled([mover.move(doors, pid)]);
    const found = readStartTime(pid);
    if (found !== null && found !== start) putOutside(pid, outside);
    if (end.status === "rejected") throw end.reason;
    if (found !== start) throw new Error(`process ${pid} ended before it was moved`);
  }

  return {
    enter: async (process) => {
      opened ??= openAll(folders.map((folder) => join(folder, "cgroup.procs")));
      const moved = Promise.allSettled([moving, move(opened, process)]);
      moving = moved;
      const [, end] = await moved;
      if (moving === moved) moving = null;
      if (end.status === "rejected") throw end.reason;
    },
    isMoving: () => moving !== null,
    close: async () => {
      await moving;
      opened?.forEach((descriptor) => closeSync(descriptor));
      opened = null;
    },
  };
}

function putOutside(pid: number, outside: readonly string[]): void {
  for (const folder of outside) {
    try {
      writeFileSync(join(folder, "cgroup.procs"), String(pid));
    } catch {
      // It has ended as well.
    }
  }
}
