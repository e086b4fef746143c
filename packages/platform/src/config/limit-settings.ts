import { number } from "./settings.ts";
import type { Setting } from "./settings.ts";

/** Settings of how fast requests may follow each other, by the name of their flags. */
export const LIMIT_SETTINGS = {
  "starts-per-second": number(
    "PLATFORM_STARTS_PER_SECOND",
    "Starts per second of one application (for jobs: organisation) in the long run, ten times as many at once; more are refused with 429",
    { min: 0.1, max: 1_000_000, isWhole: false },
    1_000,
  ),
  "writes-per-second": number(
    "PLATFORM_WRITES_PER_SECOND",
    "Changes per second of one user through the platform API in the long run, ten times as many at once, and four times as many of one organisation; more are refused with 429",
    { min: 0.1, max: 1_000_000, isWhole: false },
    20,
  ),
} as const satisfies Record<string, Setting<unknown>>;
