import type { RemovalPreview } from "../store/executions/preview-removal.ts";

/** What a round removes, counted. */
type Removal = Omit<RemovalPreview, "named"> & {
  readonly unneeded: { readonly objects: number; readonly bytes: number };
};

const HEAD = ["SERVICE", "EXECUTIONS", "LOGS", "BYTES"] as const;

/** What the next round of housekeeping removes, as a text for people. */
export function describeRemoval({ days, logDays, waiting, services, unneeded }: Removal): string {
  const rows = services.map(({ serviceKey, service, executions, logs, bytes }) => [
    service === null ? "(unknown)" : `${service} ${serviceKey ?? ""}`,
    ...[executions, logs, bytes].map(String),
  ]);
  return [
    `Days whose executions are removed: ${list(days)}`,
    `Days whose logs are removed: ${list(logDays)}`,
    `Days that are due and wait for executions that have not ended: ${list(waiting)}`,
    "",
    ...(rows.length === 0 ? ["No executions, results or logs are removed."] : align([HEAD, ...rows])),
    "",
    `Objects that are removed: ${unneeded.objects}, ${unneeded.bytes} bytes`,
    "Nothing was changed.",
    "",
  ].join("\n");
}

function list(days: readonly string[]): string {
  return days.length === 0 ? "none" : days.map((day) => day.replace(/^(....)(..)/u, "$1-$2-")).join(", ");
}

/** Columns of equal width; numbers to the right. */
function align(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  return rows.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join("  "),
  );
}
