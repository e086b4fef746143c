import { randomUUID } from "node:crypto";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/iu;
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/iu;

/** Whether PostgreSQL would take it as a uuid in its usual form; what fails here names nothing that exists. */
export function isUuid(value: string): boolean {
  return UUID.test(value);
}

const MAX_COUNT = 0xfff;
/** State of the process, since order is promised for all that it makes: the last id's millisecond, and its place in it. */
let lastTime = 0;
let count = 0;

/**
 * A UUID that begins with its time (RFC 9562, section 5.7), so that newer rows sort after older ones. The 12 bits after
 * the milliseconds count (section 6.2, method 1): ids that one process makes one after another are in order, also where
 * the clock stands still or is set back.
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
  // The end of a version 4 is what version 7 ends with: the variant, then 62 random bits.
  const random = randomUUID().slice(18);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${count.toString(16).padStart(3, "0")}${random}`;
}

/** The smallest UUIDv7 of a time; `time` in milliseconds since the epoch. */
export function getLowestUuid(time: number): string {
  const hex = formatTime(Math.max(0, Math.floor(time)));
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** When a UUIDv7 was made, in milliseconds since the epoch; null for any other text. */
export function readUuidTime(id: string): number | null {
  return UUID_V7.test(id) ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : null;
}

function formatTime(milliseconds: number): string {
  return milliseconds.toString(16).padStart(12, "0");
}
