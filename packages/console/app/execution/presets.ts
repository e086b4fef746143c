import { readStored } from "../util/storage.ts";
import { formatTimestamp } from "../util/times.ts";
import type { ExecutionsSearch } from "./filter.ts";

const LONG_MS = 60_000;

/** The beginning of this day where times are shown: in UTC, or where the browser is. */
function findMidnight(): number {
  const now = new Date();
  return readStored("times") === "utc" ? now.setUTCHours(0, 0, 0, 0) : now.setHours(0, 0, 0, 0);
}

/** Sets of filters that are wanted most. */
export const EXECUTION_PRESETS: readonly {
  readonly label: string;
  readonly set: () => ExecutionsSearch;
}[] = [
  { label: "In flight", set: () => ({ status: ["PENDING", "RUNNING"] }) },
  {
    label: "Failed today",
    set: () => ({ status: ["FAILED", "UNKNOWN"], after: formatTimestamp(findMidnight()) }),
  },
  { label: "Ran over a minute", set: () => ({ min: LONG_MS }) },
];
