import { scanJson } from "@platform/engine/executions/json-scan";

const RESULT_START = '{"result":';

/** The bytes of the result in an answer of a platform or of a local server; null: it is neither. */
export function findResult(body: Uint8Array): readonly Uint8Array[] | null {
  const lengths = measureMembers(body);
  const hosted = findTail(body, lengths, ["_embedded", "_links", "metadata"]);
  if (hosted !== null && readText(body, 0, RESULT_START.length) === RESULT_START)
    return [body.subarray(RESULT_START.length, hosted)];
  // In an answer of a local server the members of the result stand beside those of the server.
  const local = findTail(body, lengths, ["_embedded", "_links"]);
  return local === null ? null : [body.subarray(0, local), Buffer.from("}")];
}

/** Where these members begin, which are the last ones, the last of them first; null: they are not. */
function findTail(
  body: Uint8Array,
  lengths: ReadonlyMap<string, number>,
  keys: readonly string[],
): number | null {
  let at = body.length - 1;
  for (const key of keys) {
    const name = `"${key}":`;
    at -= (lengths.get(key) ?? 0) + name.length;
    if (at < 1 || readText(body, at, at + name.length) !== name) return null;
    if (body[at - 1] === ",".charCodeAt(0)) at -= 1;
  }
  return at;
}

/** By key, of the last one of each. */
function measureMembers(body: Uint8Array): ReadonlyMap<string, number> {
  try {
    return new Map(scanJson(body).members.map(({ key, length }) => [key, length]));
  } catch {
    return new Map();
  }
}

function readText(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.subarray(start, end)).toString("latin1");
}
