import { Text, Tooltip } from "@mantine/core";
import { useSyncExternalStore } from "react";
import { formatExact, formatRelative, parseTimestamp } from "../util/times.ts";
import { readStored } from "../util/storage.ts";

const TICK_MS = 10_000;
let now = Date.now();

/** One clock for all times of a page. */
function subscribe(changed: () => void): () => void {
  const timer = setInterval(() => {
    now = Date.now();
    changed();
  }, TICK_MS);
  return () => clearInterval(timer);
}

/** While nothing on a page shows a time the clock stands still: who looks then sets it. */
function look(): number {
  const current = Date.now();
  if (Math.abs(current - now) >= 2 * TICK_MS) now = current;
  return now;
}

/** The present in milliseconds since the Unix epoch, to ten seconds: the same for all parts of a page. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, look);
}

/** The clock of the page stands still between two ticks, and that of the platform may be a little ahead. */
function isJustNow(time: number, current: number): boolean {
  return time > current && time - current < 2 * TICK_MS;
}

interface TimeProps {
  /** As on the wire, `YYYY-MM-DD HH:MM:SS` in UTC; null or undefined: there is none. */
  readonly at: string | null | undefined;
  /** Instead of a time that there is not. */
  readonly none?: string;
  /** `exact`: day and time in the zone that the user has chosen. */
  readonly as?: "relative" | "exact";
}

/** A time: relative, with the exact one in the user's zone and in UTC at hand. */
export function Time({ at, none = "-", as = "relative" }: TimeProps) {
  const current = useNow();
  if (at === null || at === undefined)
    return (
      <Text span inherit c="dimmed">
        {none}
      </Text>
    );
  const time = parseTimestamp(at);
  const local = formatExact(time, "local");
  const utc = formatExact(time, "utc");
  const exact = readStored("times") === "utc" ? utc : local;
  return (
    <Tooltip
      label={local === utc ? utc : `${local} (${utc})`}
      openDelay={200}
      events={{ hover: true, focus: true, touch: true }}
    >
      <time dateTime={at.replace(" ", "T").concat("Z")}>
        {as === "exact" ? exact : formatRelative(isJustNow(time, current) ? current : time, current)}
      </time>
    </Tooltip>
  );
}
