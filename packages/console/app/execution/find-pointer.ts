const INDENT = 2;
const CLOSES = /^\s*[}\]]/u;

/**
 * The JSON Pointer (RFC 6901) of a line of JSON that `layOutJson` has laid out.
 *
 * @param lineAt text of a line, from 1
 */
export function findPointer(lineAt: (number: number) => string, line: number): string {
  const parts: string[] = [];
  let at = CLOSES.test(lineAt(line)) ? findOpening(lineAt, line) : line;
  for (let depth = depthOf(lineAt(at)); depth > 0; depth = depthOf(lineAt(at))) {
    const name = nameOf(lineAt(at));
    let index = 0;
    for (at -= 1; at > 1 && depthOf(lineAt(at)) >= depth; at -= 1)
      if (depthOf(lineAt(at)) === depth && !CLOSES.test(lineAt(at))) index += 1;
    parts.unshift(lineAt(at).endsWith("{") ? escapePointer(name ?? "") : String(index));
  }
  return parts.map((part) => `/${part}`).join("");
}

/** What is between the two is deeper. */
function findOpening(lineAt: (number: number) => string, line: number): number {
  const depth = depthOf(lineAt(line));
  let at = line - 1;
  while (at > 1 && depthOf(lineAt(at)) > depth) at -= 1;
  return at;
}

function depthOf(text: string): number {
  return (text.length - text.trimStart().length) / INDENT;
}

function nameOf(text: string): string | null {
  const found = /^\s*("(?:[^"\\]|\\.)*"): /u.exec(text)?.[1];
  if (found === undefined) return null;
  const value: unknown = JSON.parse(found);
  return typeof value === "string" ? value : null;
}

function escapePointer(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}
