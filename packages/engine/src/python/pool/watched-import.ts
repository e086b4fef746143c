import { GIGABYTE } from "../../base/bytes.ts";
import { findUppermost } from "../watch/family.ts";
import type { Watch, Watcher } from "../watch/watcher.ts";
import type { ZygoteEvent } from "../wire/control-messages.ts";
import { ZYGOTE_RESERVE_BYTES } from "./zygote-groups.ts";
import type { ZygoteOptions } from "./zygote-options.ts";

/** Events with which an import has ended well. */
const ENDS: ReadonlySet<ZygoteEvent["event"]> = new Set(["ready", "unsafe", "probed"]);

/** The process that was started for a zygote. */
export interface Launched {
  readonly pid: number;
  /** Whether it is not the interpreter itself. */
  readonly isLauncher: boolean;
  /** Resolves when the launcher executes the interpreter, which may be the version's own, and take memory before it says a word. */
  readonly begun: Promise<unknown>;
}

/**
 * One import where limits are sampled. The limits of each process do not count shared memory, memory files and what its processes take
 * together; the looks do.
 */
export interface WatchedImport {
  /** Passes the events of the zygote on, in their order: the end of an import comes after a last look, and not at all if it took too much. */
  readonly hear: (event: ZygoteEvent) => void;
  /** The zygote has ended. True: it was killed because of the memory of its import. */
  readonly close: () => boolean;
}

/**
 * @param watcher null: nothing is watched, and `onPassed` is called at the hello
 * @param onPassed called before the end of the import is passed on; the zygote may be given orders
 */
export function watchImport(
  watcher: Watcher | null,
  { version, onEvent }: Pick<ZygoteOptions, "version" | "onEvent">,
  { pid, isLauncher, begun }: Launched,
  onPassed: () => void,
): WatchedImport {
  if (watcher === null) return passImport(onEvent, onPassed);
  const { watch: begin } = watcher;
  let watch: Watch | null = null;
  let step: "before" | "importing" | "looking" | "over" = "before";
  let wasExceeded = false;
  const held: ZygoteEvent[] = [];

  /** @param isFurnished whether the sandbox has file systems of its own by now, and no longer those of the host */
  function follow(isFurnished: boolean): void {
    const leader = findUppermost(pid, isLauncher);
    if (leader === null) return;
    endWatch();
    const memoryBytes = Math.round(version.resources.memory * GIGABYTE) + ZYGOTE_RESERVE_BYTES;
    const isApart = leader.isApart && isFurnished;
    watch = begin({ ...leader, isApart }, { memoryBytes, cpus: Infinity });
  }

  function endWatch(): void {
    wasExceeded = hasExceeded();
    watch?.end();
  }

  async function lookOnce(): Promise<void> {
    step = "looking";
    await watch?.look();
    endWatch();
    step = "over";
    if (hasExceeded()) return;
    onPassed();
    held.forEach(onEvent);
  }

  function hasExceeded(): boolean {
    return wasExceeded || (watch?.measure()?.outOfMemoryKills ?? 0) > 0;
  }

  void begun.then(() => (step === "before" ? follow(false) : undefined));
  return {
    hear: (event) => {
      if (event.event === "hello" && step === "before") {
        step = "importing";
        follow(true);
      }
      const isEnd = step === "importing" && ENDS.has(event.event);
      if (!isEnd && step !== "looking") return onEvent(event);
      held.push(event);
      if (isEnd) void lookOnce();
    },
    close: () => {
      endWatch();
      return wasExceeded;
    },
  };
}

function passImport(onEvent: ZygoteOptions["onEvent"], onPassed: () => void): WatchedImport {
  const hear = (event: ZygoteEvent): void => {
    if (event.event === "hello") onPassed();
    onEvent(event);
  };
  return { hear, close: () => false };
}
