import { createCache } from "@platform/engine/base/cache";
import type { ContentName, ResultStore } from "@platform/engine/content/result-store";
import { frameResult } from "@platform/engine/http/large-result";
import type { FramedContent } from "@platform/engine/http/large-result";

/*
 * Results that are not in a row (1 MB and more), as jobs show them. A list that a backend has returned is the member `value` of an object, of which the job
 * shows the list alone (published-jobs.ts); whether an object is such a one is known when it has been read to its end once.
 */

const START = '{"value":[';
/** What stands before the list, and behind it. */
const BEFORE = '{"value":'.length;
const BEHIND = "}".length;

const NOTHING = Buffer.alloc(0);
/** Nothing stands around the result. */
const WHOLE = { head: NOTHING, tail: NOTHING, isFlat: false };

/** Results that are known to be lists, or not to be. */
const KNOWN = { maxEntries: 1_000 };

/** The content that a job shows of a large result. */
export function createLargeLists(
  results: Pick<ResultStore, "read">,
): (name: ContentName) => Promise<FramedContent> {
  const known = createCache<boolean>(KNOWN);
  return async (name) => {
    const content = frameResult(results, name, WHOLE);
    const isList = await known.get(name.hash, async () => isListAlone(results, name));
    if (!isList) return content;
    return {
      bytes: content.bytes - BEFORE - BEHIND,
      tag: `${content.tag}.list`,
      open: ({ start, end }) => content.open({ start: start + BEFORE, end: end + BEFORE }),
    };
  };
}

async function isListAlone(results: Pick<ResultStore, "read">, { hash, bytes }: ContentName) {
  const first = await results.read(hash, { start: 0, end: Math.min(bytes, START.length) });
  let beginning = "";
  for await (const part of first) beginning += Buffer.from(part as Uint8Array).toString("latin1");
  if (beginning !== START) return false;
  const scan = createScan();
  for await (const part of await results.read(hash, { start: 0, end: bytes }))
    if (scan(part as Uint8Array)) return false;
  return true;
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const OPEN: ReadonlySet<number> = new Set(Buffer.from("{["));
const CLOSE: ReadonlySet<number> = new Set(Buffer.from("}]"));

/** Takes JSON text part by part; true once its object has a second member. */
function createScan(): (part: Uint8Array) => boolean {
  let depth = 0;
  let isText = false;
  let isEscaped = false;
  return (part) => {
    for (const byte of part) {
      if (isEscaped) isEscaped = false;
      else if (isText) {
        if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) isText = false;
      } else if (byte === QUOTE) isText = true;
      else if (OPEN.has(byte)) depth++;
      else if (CLOSE.has(byte)) depth--;
      else if (byte === COMMA && depth === 1) return true;
    }
    return false;
  };
}
