import type { Readable } from "node:stream";
import type { Pace, Work } from "./pace.ts";

/** The result of offering a chunk. A `rest` is offered again in a later turn; if the turn cost nothing, only after `wake`. */
export interface Taken {
  readonly cost: number;
  readonly rest: Buffer | null;
}

/** Consumes the part of a chunk that costs about `allowance` (units of `Pace`). */
export type Consumer = (chunk: Buffer, allowance: number) => Taken;

/** A stream that is read at a limited pace. It buffers one chunk at most, so that a writer has to wait for a slow consumer. */
interface PacedReader {
  /**
   * Passes the buffered data, and all that follows, to another consumer.
   * @param onEnd called once when the stream has closed and everything was consumed, also when it has already closed
   */
  readonly redirect: (consumer: Consumer, kept: readonly Buffer[], onEnd: () => void) => void;
  /** Offers the rest that the consumer has not taken again. */
  readonly wake: () => void;
  /** Whether the writer had to wait since the last call. */
  readonly hasWaited: () => boolean;
  /** Drops buffered data; nothing more is passed on. */
  readonly stop: () => void;
}

/** Reads the stream from now on, for `consumer` until `redirect`. */
export function createPacedReader(stream: Readable, pace: Pace, consumer: Consumer): PacedReader {
  let consume = consumer;
  let announceEnd: (() => void) | null = null;
  const pending: Buffer[] = [];
  let waited = false;
  let state: "open" | "closed" | "ended" | "stopped" = "open";
  function work(allowance: number): ReturnType<Work> {
    const { cost, result } = passOn(pending, consume, allowance);
    if (state === "stopped" || result === "refused") return { cost, state: "done" };
    if (pending.length > 0) return { cost, state: "more" };
    if (stream.isPaused()) stream.resume();
    endIfClosed();
    return { cost, state: "done" };
  }

  function endIfClosed(): void {
    if (state !== "closed" || pending.length > 0) return;
    state = "ended";
    announceEnd?.();
  }

  function offer(): void {
    if (pending.length > 0) pace.enter(work);
    if (pending.length === 0) return;
    waited = true;
    stream.pause();
  }

  stream.on("data", (chunk: Buffer) => {
    if (state === "stopped") return;
    pending.push(chunk);
    offer();
  });
  stream.once("close", () => {
    if (state === "open") state = "closed";
    endIfClosed();
  });

  return {
    redirect: (next, kept, onEnd) => {
      consume = next;
      announceEnd = onEnd;
      pending.unshift(...kept);
      if (state === "ended") state = "closed";
      offer();
      endIfClosed();
    },
    wake: offer,
    hasWaited: () => {
      const answer = waited;
      waited = pending.length > 0;
      return answer;
    },
    stop: () => {
      state = "stopped";
      pending.length = 0;
      pace.leave(work);
    },
  };
}

/** Offers chunks in order while the allowance lasts. Data that is not taken stays; if `refused`, until the consumer is woken. */
function passOn(
  pending: Buffer[],
  consume: Consumer,
  allowance: number,
): { readonly cost: number; readonly result: "passed" | "refused" } {
  let cost = 0;
  for (let chunk = pending[0]; chunk !== undefined && cost < allowance; chunk = pending[0]) {
    const taken = consume(chunk, allowance - cost);
    cost += taken.cost;
    if (pending[0] !== chunk) break; // the consumer has stopped the reader
    if (taken.rest === null) pending.shift();
    else pending[0] = taken.rest;
    if (taken.rest !== null && taken.cost === 0) return { cost, result: "refused" };
  }
  return { cost, result: "passed" };
}
