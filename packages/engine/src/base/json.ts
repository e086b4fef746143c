/** Whether a JSON value is an object: neither null nor an array. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a JSON value is nested deeper than `levels`; a flat object has one level. Iterative, so that no value overflows the stack. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  let level: readonly object[] = isContainer(value) ? [value] : [];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > levels) return true;
    level = level.flatMap((container) => Object.values(container).filter(isContainer));
  }
  return false;
}

/** Whether a JSON value is an object or an array. */
export function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
