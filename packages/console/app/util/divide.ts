/** A list in parts of so many items, the last one with what is left. */
export function divide<T>(items: readonly T[], most: number): readonly T[][] {
  return Array.from({ length: Math.ceil(items.length / most) }, (_, part) =>
    items.slice(part * most, (part + 1) * most),
  );
}
