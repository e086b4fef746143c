import { addressRanges, ids, number } from "./settings.ts";
import type { Setting } from "./settings.ts";

/** Settings of how fast requests may follow each other, and whom the platform calls, by the name of their flags. */
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
  "webhook-open": addressRanges(
    "PLATFORM_WEBHOOK_OPEN",
    "Private or local IPv4 ranges in which webhooks are called too, separated by commas, such as 10.1.0.0/16",
  ),
  "high-priority-organizations": ids(
    "PLATFORM_HIGH_PRIORITY_ORGANIZATIONS",
    "Ids of the organisations whose services may have the priority high, separated by commas; the same for gateway and control",
  ),
} as const satisfies Record<string, Setting<unknown>>;

/** How fast requests may follow each other, and whom the platform calls; frozen with the other settings. */
export interface LimitConfig {
  readonly startsPerSecond: number;
  /** Of one user, through the platform API. */
  readonly writesPerSecond: number;
  /** Closed IPv4 ranges in which webhooks are called too. */
  readonly webhookOpen: readonly string[];
  /** Ids of the organisations whose services may have the priority high. */
  readonly highPriorityOrganisations: ReadonlySet<string>;
}

/** @param settings as they were parsed */
export function readLimits(settings: {
  readonly "starts-per-second": number;
  readonly "writes-per-second": number;
  readonly "webhook-open": readonly string[];
  readonly "high-priority-organizations": readonly string[];
}): LimitConfig {
  return {
    startsPerSecond: settings["starts-per-second"],
    writesPerSecond: settings["writes-per-second"],
    webhookOpen: settings["webhook-open"],
    highPriorityOrganisations: new Set(settings["high-priority-organizations"]),
  };
}
