/** Longer names are compared with nothing: the time grows with the product of the lengths. */
const MAX_LENGTH = 50;

/** The known name that a misspelt one most probably means; null: none is near. Upper and lower case count as equal. */
export function findSimilar(name: string, known: readonly string[]): string | null {
  if (name.length > MAX_LENGTH) return null;
  const [nearest] = known
    .map((candidate) => ({ candidate, edits: countEdits(name.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, edits }) => edits <= Math.max(1, Math.floor(candidate.length / 3)))
    .sort((left, right) => left.edits - right.edits);
  return nearest?.candidate ?? null;
}

/** Letters to add, drop, replace or swap with the next one (optimal string alignment). */
function countEdits(from: string, to: string): number {
  let before: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current.push(
        Math.min(
          readEdits(last, column) + 1,
          readEdits(current, column - 1) + 1,
          readEdits(last, column - 1) + (isSame ? 0 : 1),
          isSwapped && row > 1 ? readEdits(before, column - 2) + 1 : Infinity,
        ),
      );
    }
    before = last;
    last = current;
  }
  return last[to.length] ?? Infinity;
}

function readEdits(line: readonly number[], column: number): number {
  return line[column] ?? Infinity;
}
