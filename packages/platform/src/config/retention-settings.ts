import { number } from "./settings.ts";
import type { Setting } from "./settings.ts";

const DAYS = { min: 1, max: 3650, isWhole: true };

/** Settings of how long executions are kept, by the name of their flags. */
export const RETENTION_SETTINGS = {
  "retention-days": number(
    "PLATFORM_RETENTION_DAYS",
    "For how many days after their end executions and their results are kept, unless their service says otherwise",
    DAYS,
    30,
  ),
  "log-retention-days": number(
    "PLATFORM_LOG_RETENTION_DAYS",
    "The same for their logs, which are not kept for longer than the results",
    DAYS,
    7,
  ),
  "max-retention-days": number(
    "PLATFORM_MAX_RETENTION_DAYS",
    "The most days for which a service may keep results and logs; at least --retention-days",
    DAYS,
    60,
  ),
} as const satisfies Record<string, Setting<unknown>>;

/** How long things are kept, in days; frozen with the other settings. */
export interface RetentionConfig {
  /** Of executions, builds and archives. */
  readonly retentionDays: number;
  readonly logRetentionDays: number;
  /** The most that a service may keep results and logs. */
  readonly maxRetentionDays: number;
}

/** Whoever keeps everything for longer allows services as much. */
export function readRetention(
  settings: Readonly<Record<keyof typeof RETENTION_SETTINGS, number>>,
): RetentionConfig {
  return {
    retentionDays: settings["retention-days"],
    logRetentionDays: settings["log-retention-days"],
    maxRetentionDays: Math.max(settings["max-retention-days"], settings["retention-days"]),
  };
}
