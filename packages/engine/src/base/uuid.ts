import { randomUUID } from "node:crypto";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/iu;
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/iu;

/** Whether PostgreSQL accepts the text as a uuid in its usual form. An id for which this is false cannot exist. */
export function isUuid(value: string): boolean {
  return UUID.test(value);
}

const MAX_COUNT = 0xfff;
/** Process-wide, because the ids of one process are ordered: the millisecond of the last id, and its number within it. */
let lastTime = 0;
let count = 0;

/**
 * A UUID that begins with its time (RFC 9562, section 5.7), so that newer rows sort after older ones. The 12 bits after
 * the milliseconds are a counter (section 6.2, method 1): successive ids of one process are ordered, even when the clock
 * does not advance or is set back.
 */
export function createUuidV7(): string {
  const now = Date.now();
  if (now > lastTime) {
    lastTime = now;
    count = 0;
  } else if (count < MAX_COUNT) {
    count += 1;
  } else {
    lastTime += 1;
    count = 0;
  }
  const time = formatTime(lastTime);
  // Versions 4 and 7 end in the same way: the variant, then 62 random bits.
  const random = randomUUID().slice(18);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${count.toString(16).padStart(3, "0")}${random}`;
}

/** The smallest UUIDv7 with this timestamp; `time` in milliseconds since the epoch. */
export function getLowestUuid(time: number): string {
  const hex = formatTime(Math.max(0, Math.floor(time)));
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** The timestamp of a UUIDv7, in milliseconds since the epoch; null for any other text. */
export function readUuidTime(id: string): number | null {
  return UUID_V7.test(id) ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : null;
}

function formatTime(milliseconds: number): string {
  return milliseconds.toString(16).padStart(12, "0");
}
