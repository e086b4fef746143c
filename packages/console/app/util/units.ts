const UNITS = ["B", "kB", "MB", "GB", "TB"] as const;

/** "812 B", "1.2 MB"; powers of 1024, as the platform counts. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1_024 && unit < UNITS.length - 1) {
    value /= 1_024;
    unit += 1;
  }
  const digits = unit === 0 || value >= 100 ? 0 : 1;
  return `${value.toFixed(digits)} ${UNITS[unit] ?? "B"}`;
}

/** A whole number with the separators of the browser's language. */
export function formatCount(count: number): string {
  return new Intl.NumberFormat().format(count);
}
