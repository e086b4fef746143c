import { KILOBYTE } from "../../base/bytes.ts";
import { decodeEvent } from "./control-messages.ts";
import type { ZygoteEvent } from "./control-messages.ts";
import { CHUNK_COST } from "./pace.ts";
import type { Consumer } from "./paced-reader.ts";

/** Cost of parsing and passing on a line, even an invalid one, in units of `Pace`. Without it, a flood of newlines took most of the thread. */
const LINE_COST = 512;
/** A line that comes byte by byte must not become a list of millions of buffers. */
const MAX_PARTS = 1024;
/** What a zygote says once in its life. */
const SAID_ONCE: ReadonlySet<ZygoteEvent["event"]> = new Set([
  "hello",
  "ready",
  "unsafe",
  "failed",
  "probed",
]);

/** Only what is said once is longer: descriptions of `run`, tracebacks. */
const SHORT_BYTES = 64 * KILOBYTE;
/** So many longer lines are read of a zygote: parsing 4 MB of different names holds up the thread for 0.1 s. */
const MAX_LONG_LINES = SAID_ONCE.size;

/**
 * Splits the stream of one zygote into events; calls `onBroken` once when a line exceeds `maxBytes`. Lines that are no events are dropped,
 * and so is what it says once in its life, from the second time on: it is looked for in /proc when it says hello, which takes milliseconds.
 */
export function createEventReader(
  maxBytes: number,
  onEvent: (event: ZygoteEvent) => void,
  onBroken: () => void,
): Consumer {
  let parts: Buffer[] = [];
  let size = 0;
  let broken = false;
  let longLines = 0;
  const said = new Set<ZygoteEvent["event"]>();

  function take(part: Buffer): boolean {
    size += part.length;
    if (size > maxBytes) {
      broken = true;
      onBroken();
      return false;
    }
    parts.push(part);
    if (parts.length >= MAX_PARTS) parts = [Buffer.concat(parts)];
    return true;
  }

  /** False when the line is too long; nothing more is then read. */
  function takePart(part: Buffer, isEnd: boolean): boolean {
    if (broken || !take(part)) return false;
    if (!isEnd) return true;
    if (size > SHORT_BYTES) longLines += 1;
    const isRead = size <= SHORT_BYTES || longLines <= MAX_LONG_LINES;
    const event = isRead ? decodeEvent(Buffer.concat(parts).toString("utf8")) : null;
    parts = [];
    size = 0;
    if (event === null || said.has(event.event)) return true;
    if (SAID_ONCE.has(event.event)) said.add(event.event);
    onEvent(event);
    return true;
  }

  return (chunk, allowance) => {
    let from = 0;
    let cost = CHUNK_COST;
    while (from < chunk.length) {
      if (from > 0 && cost >= allowance) return { cost, rest: chunk.subarray(from) };
      const end = chunk.indexOf(10, from);
      const next = end < 0 ? chunk.length : end + 1;
      cost += next - from + LINE_COST;
      if (!takePart(chunk.subarray(from, end < 0 ? next : end), end >= 0)) break;
      from = next;
    }
    return { cost, rest: null };
  };
}
