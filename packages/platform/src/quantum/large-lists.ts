import { createCache } from "@platform/engine/base/cache";
import type { ContentName, ResultStore } from "@platform/engine/content/result-store";
import { frameResult } from "@platform/engine/http/large-result";
import type { FramedContent } from "@platform/engine/http/large-result";
import { AROUND_LIST, LIST_START } from "./published-jobs.ts";

/*
 * Results that are not in a row (1 MB and more, up to gigabytes), as jobs show them. Whether one is a list that a backend has returned is known by its
 * first bytes (published-jobs.ts). A runner that user code has taken over may begin so what is none: then the job shows what its backend has made of it.
 */

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
    const isList = await known.get(name.hash, async () => beginsAsList(results, name));
    if (!isList) return content;
    const { before, behind } = AROUND_LIST;
    return {
      bytes: content.bytes - before - behind,
      tag: `${content.tag}.list`,
      open: ({ start, end }) => content.open({ start: start + before, end: end + before }),
    };
  };
}

async function beginsAsList(results: Pick<ResultStore, "read">, { hash, bytes }: ContentName) {
  if (bytes <= LIST_START.length) return false;
  const parts: Uint8Array[] = [];
  for await (const part of await results.read(hash, { start: 0, end: LIST_START.length }))
    parts.push(part as Uint8Array);
  return LIST_START.equals(Buffer.concat(parts));
}
