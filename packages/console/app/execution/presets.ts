import { formatTimestamp } from "../util/times.ts";
import type { ExecutionsSearch } from "./filter.ts";

const LONG_MS = 60_000;

/** Sets of filters that are wanted most. */
export const EXECUTION_PRESETS: readonly {
  readonly label: string;
  readonly set: () => ExecutionsSearch;
}[] = [
  { label: "In flight", set: () => ({ status: ["PENDING", "RUNNING"] }) },
  {
    label: "Failed today",
    set: () => ({ status: ["FAILED", "UNKNOWN"], after: formatTimestamp(new Date().setHours(0, 0, 0, 0)) }),
  },
  { label: "Ran over a minute", set: () => ({ min: LONG_MS }) },
];
