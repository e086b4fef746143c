const UNITS = ["B", "kB", "MB", "GB", "TB"] as const;

/** "812 B", "1.2 MB", "5 GB" where it is that exactly; powers of 1024, as the platform counts. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1_024 && unit < UNITS.length - 1) {
    value /= 1_024;
    unit += 1;
  }
  const digits = Number.isInteger(value) || value >= 100 ? 0 : 1;
  return `${value.toFixed(digits)} ${UNITS[unit] ?? "B"}`;
}

/** A whole number with the separators of the browser's language. */
export function formatCount(count: number): string {
  return new Intl.NumberFormat().format(count);
}

/** So many of something: "1 line", "1,200 lines". */
export function countOf(count: number, one: string): string {
  return `${formatCount(count)} ${count === 1 ? one : `${one}s`}`;
}
