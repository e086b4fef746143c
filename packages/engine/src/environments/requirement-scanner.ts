/** Reads one line from left to right. All patterns are sticky, so each step costs what it consumes. */
export interface Scanner {
  /** Consumes and returns the match of a sticky pattern at this position; null when it does not match. */
  readonly take: (pattern: RegExp) => string | null;
  readonly skipBlanks: () => void;
  readonly isAtEnd: () => boolean;
  readonly rest: () => string;
}

/** Starts at the beginning of `text`. */
export function createScanner(text: string): Scanner {
  let at = 0;
  const take = (pattern: RegExp): string | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0] ?? null;
    if (found !== null) at += found.length;
    return found;
  };
  return {
    take,
    skipBlanks: () => void take(/ */y),
    isAtEnd: () => at === text.length,
    rest: () => text.slice(at),
  };
}

/** What is wrong with one line, without its place and without a final period: thrown by the parsers of a line, caught where file and number are known. */
export class RequirementError extends Error {
  override readonly name = "RequirementError";
}
