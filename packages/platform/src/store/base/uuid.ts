import { randomBytes } from "node:crypto";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/iu;

/** Whether PostgreSQL would take it as a uuid in its usual form; what fails here names nothing that exists. */
export function isUuid(value: string): boolean {
  return UUID.test(value);
}

/**
 * A UUID that begins with its time (RFC 9562, section 5.7), so that newer rows sort after older ones. The 12 bits after
 * the milliseconds are their fraction (section 6.2, method 3): ids that one process makes one after another are in order.
 */
export function createUuidV7(): string {
  const time = performance.timeOrigin + performance.now();
  const milliseconds = Math.floor(time);
  const fraction = Math.floor((time - milliseconds) * 0x1000);
  const bytes = randomBytes(16);
  bytes.writeUIntBE(milliseconds, 0, 6);
  bytes.writeUInt16BE(0x7000 | fraction, 6);
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8);
  return formatUuid(bytes.toString("hex"));
}

/** The smallest UUIDv7 of a time; `time` in milliseconds since the epoch. */
export function getLowestUuid(time: number): string {
  return formatUuid(Math.max(0, Math.floor(time)).toString(16).padStart(12, "0").padEnd(32, "0"));
}

/** When a UUIDv7 was made, in milliseconds since the epoch. */
export function readUuidTime(id: string): number {
  return Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16);
}

function formatUuid(hex: string): string {
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
