import type { LogLine } from "./log-store.ts";

/** From the least to the most severe. */
export const SEVERITIES = ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] as const;

/** The lines of at least this severity ("": any) that contain the words; capital letters do not matter. */
export function selectLines(lines: readonly LogLine[], severity: string, words: string): readonly LogLine[] {
  const least = SEVERITIES.findIndex((name) => name === severity);
  const sought = words.trim().toLowerCase();
  if (least <= 0 && sought === "") return lines;
  return lines.filter(
    (line) =>
      SEVERITIES.findIndex((name) => name === line.severity) >= least &&
      (sought === "" || line.message.toLowerCase().includes(sought)),
  );
}
