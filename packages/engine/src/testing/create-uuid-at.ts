import { createUuidV7, getLowestUuid } from "../base/uuid.ts";

/** An id as it would have been made at that time, in milliseconds since the epoch. */
export function createUuidAt(time: number): string {
  return `${getLowestUuid(time).slice(0, 13)}${createUuidV7().slice(13)}`;
}
