import { GIGABYTE } from "../../base/bytes.ts";
import { findImporter } from "../watch/family.ts";
import type { Watch, Watcher } from "../watch/watcher.ts";
import type { ZygoteEvent } from "../wire/control-messages.ts";
import { ZYGOTE_RESERVE_BYTES } from "./zygote-groups.ts";
import type { ZygoteOptions } from "./zygote.ts";

/** Events with which an import has ended well. */
const ENDS: ReadonlySet<ZygoteEvent["event"]> = new Set(["ready", "unsafe", "probed"]);

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
 * @param watcher null: nothing is watched
 * @param launched the process that was started for the zygote
 * @param onPassed called before the end of the import is passed on
 */
export function watchImport(
  watcher: Watcher | null,
  { version, onEvent }: Pick<ZygoteOptions, "version" | "onEvent">,
  launched: number,
  onPassed: () => void,
): WatchedImport {
  let watch: Watch | null = null;
  let step: "before" | "importing" | "looking" | "over" = "before";
  const held: ZygoteEvent[] = [];

  function begin(number: number): void {
    step = "importing";
    const leader = findImporter(launched, number);
    const memoryBytes = Math.round(version.resources.memory * GIGABYTE) + ZYGOTE_RESERVE_BYTES;
    if (leader !== null) watch = watcher?.watch(leader, { memoryBytes, cpus: Infinity }) ?? null;
  }

  async function lookOnce(): Promise<void> {
    step = "looking";
    await watch?.look();
    watch?.end();
    step = "over";
    if (hasExceeded()) return;
    onPassed();
    held.forEach(onEvent);
  }

  function hasExceeded(): boolean {
    return (watch?.measure()?.outOfMemoryKills ?? 0) > 0;
  }

  return {
    hear: (event) => {
      if (watcher === null) return onEvent(event);
      if (event.event === "hello" && step === "before") begin(event.pid);
      const isEnd = step === "importing" && ENDS.has(event.event);
      if (!isEnd && step !== "looking") return onEvent(event);
      held.push(event);
      if (isEnd) void lookOnce();
    },
    close: () => {
      watch?.end();
      return hasExceeded();
    },
  };
}
