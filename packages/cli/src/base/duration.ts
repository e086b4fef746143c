import { START_WITHIN_SECONDS } from "@platform/contract/execution";
import { createUsageError } from "./errors.ts";

const UNIT_SECONDS = { s: 1, m: 60, h: 60 * 60, d: 24 * 60 * 60 } as const;

/** `--start-within` in seconds: `90`, `90s`, `10m`, `2h`, `1d`, or 0, which takes a setting back. @throws UserError USAGE */
export function parseStartWithin(text: string): number {
  const [, digits, unit = "s"] = /^(\d{1,7})([smhd])?$/.exec(text.trim()) ?? [];
  const seconds = Number(digits) * (isUnit(unit) ? UNIT_SECONDS[unit] : Number.NaN);
  if (seconds <= START_WITHIN_SECONDS.maximum) return seconds;
  throw createUsageError(
    `--start-within is not a time of at most ${START_WITHIN_SECONDS.maximum / UNIT_SECONDS.d} days.`,
    "Give seconds, or a number with its unit: 90s, 10m, 2h, 1d.",
  );
}

function isUnit(text: string): text is keyof typeof UNIT_SECONDS {
  return Object.hasOwn(UNIT_SECONDS, text);
}
