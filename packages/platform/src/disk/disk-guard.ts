import { Problem } from "@platform/contract/problems";
import { SECOND } from "@platform/engine/base/time";
import type { Logger } from "@platform/engine/base/logger";
import { readSpace } from "../base/files.ts";
import type { Reserve } from "./reserve.ts";

/*
 * Watches the free space of the data directory's disk.
 *
 *   ok    everything is accepted
 *   low   less than the floor is free: no uploads, no builds, no claims; starts are small rows and still accepted
 *   full  the reserve was released, or could not be taken yet: no starts either, so that the remaining space serves to
 *         end running executions
 *
 * The reserve is taken again only when twice its size is free, so that the state does not oscillate.
 */
/** How much space is left, in three steps; see above for what each stops. */
type DiskState = "ok" | "low" | "full";

/** The state of the disk, as of the last check. */
export interface DiskGuard {
  /** `low` or `full`. */
  readonly isLow: () => boolean;
  readonly isFull: () => boolean;
  /** The state as a sentence for readiness; null when it is ok. */
  readonly describe: () => string | null;
  /** Adds what can free bytes that are only convenient; it is asked before the disk counts as low. Must not reject. */
  readonly addRoom: (give: (bytes: number) => Promise<void>) => void;
  readonly close: () => Promise<void>;
}

/** What is watched. */
export interface DiskGuardOptions {
  /** A folder on the disk. */
  readonly directory: string;
  /** Bytes that have to stay free. */
  readonly floorBytes: number;
  /** Null: the embedded database is not used, so nothing has to be reserved for it. */
  readonly reserve: Reserve | null;
  readonly logger: Logger;
  /** Default 1,000. */
  readonly pollMs?: number;
}

const DEFAULT_POLL = 1 * SECOND;
const RETRY_AFTER_SECONDS = "30";

/** Resolves after the first check, which may take or release the reserve; then checks every `pollMs`. */
export async function watchDisk(options: DiskGuardOptions): Promise<DiskGuard> {
  const { logger, pollMs = DEFAULT_POLL } = options;
  let state: DiskState = "ok";
  let looking: Promise<void> | null = null;
  const givers: ((bytes: number) => Promise<void>)[] = [];

  const look = async (): Promise<void> => {
    try {
      await makeRoom(options, givers);
      const next = await judge(options);
      if (next !== state) log(logger, next, options);
      state = next;
    } catch (error) {
      logger.warn({ err: error }, "the free space of the disk could not be read");
    }
  };
  const startLook = (): Promise<void> => (looking ??= look().finally(() => (looking = null)));
  await startLook();
  const timer = setInterval(() => void startLook(), pollMs);
  timer.unref();
  return {
    isLow: () => state !== "ok",
    isFull: () => state === "full",
    describe: () => (state === "ok" ? null : TEXTS[state]),
    addRoom: (give) => void givers.push(give),
    close: async () => {
      clearInterval(timer);
      await looking;
    },
  };
}

const TEXTS = {
  low: "The disk of the data directory is low on space.",
  full: "The disk of the data directory is full.",
} as const satisfies Record<Exclude<DiskState, "ok">, string>;

/** So much more than the floor is free when there is something to give: what is given is not needed again at once. */
const MARGIN = 1.1;

async function makeRoom(
  { directory, floorBytes, reserve }: DiskGuardOptions,
  givers: readonly ((bytes: number) => Promise<void>)[],
): Promise<void> {
  const wanted = Math.max(MARGIN * floorBytes, 2 * (reserve?.bytes ?? 0));
  for (const give of givers) {
    const { free } = await readSpace(directory);
    if (free < wanted) await give(wanted - free);
  }
}

async function judge({ directory, floorBytes, reserve }: DiskGuardOptions): Promise<DiskState> {
  const { free } = await readSpace(directory);
  if (reserve === null) return free < floorBytes ? "low" : "ok";
  if (await reserve.exists()) {
    if (free >= reserve.bytes / 2) return free < floorBytes ? "low" : "ok";
    await reserve.release();
    return "full";
  }
  if (free < 2 * reserve.bytes || !(await reserve.take())) return "full";
  return (await readSpace(directory)).free < floorBytes ? "low" : "ok";
}

function log(logger: Logger, state: DiskState, { directory, floorBytes }: DiskGuardOptions): void {
  if (state === "ok") logger.info({ directory }, "the disk has space again");
  else if (state === "low")
    logger.warn(
      { directory, floorBytes },
      "the disk is low: no uploads, builds and claims until space is free",
    );
  else
    logger.error(
      { directory },
      "the disk is full: the reserve was released for the database, and starts are refused",
    );
}

/** The problem that refuses uploads and starts while the disk has no space for them. */
export function createDiskProblem(): Problem {
  return new Problem(
    "UNAVAILABLE",
    `The platform's disk has not enough free space; nothing was accepted. Try again in ${RETRY_AFTER_SECONDS} seconds.`,
    { headers: { "retry-after": RETRY_AFTER_SECONDS } },
  );
}
