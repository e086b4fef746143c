import type { CDPSession, Page } from "playwright-core";

/**
 * Where a text is in what a page keeps: in its document, in what its scripts hold (all caches, states and closures), and in the stores that
 * the browser has for it. The text is never sent to the page, which would hold it from then on; it has no character that JSON escapes.
 */
export async function findTraces(page: Page, text: string): Promise<readonly string[]> {
  const session = await page.context().newCDPSession(page);
  try {
    const places = { ...(await readKept(page)), history: await readHistory(session) };
    const found = Object.entries(places).flatMap(([place, kept]) => (kept.includes(text) ? [place] : []));
    return (await isInHeap(session, text)) ? [...found, "heap"] : found;
  } finally {
    await session.detach();
  }
}

async function readKept(page: Page): Promise<Readonly<Record<string, string>>> {
  const { cookies, origins } = await page.context().storageState({ indexedDB: true });
  const kept = await page.evaluate(async () => ({
    sessionStorage: JSON.stringify(sessionStorage),
    state: JSON.stringify(history.state),
    // Of requests and answers: their addresses.
    caches: JSON.stringify(
      await Promise.all(
        (await caches.keys()).map(async (name) =>
          (await (await caches.open(name)).keys()).map(({ url }) => url),
        ),
      ),
    ),
  }));
  return {
    document: await page.content(),
    cookies: JSON.stringify(cookies),
    "localStorage and IndexedDB": JSON.stringify(origins),
    ...kept,
  };
}

async function readHistory(session: CDPSession): Promise<string> {
  return JSON.stringify((await session.send("Page.getNavigationHistory")).entries);
}

/**
 * In a snapshot of V8's heap, after what nothing holds was collected. Takes two seconds of a processor. It has the first 1,024 letters of a
 * string, and none of what the browser's own parts hold, such as the value of a field.
 */
async function isInHeap(session: CDPSession, text: string): Promise<boolean> {
  let isFound = false;
  let end = "";
  session.on("HeapProfiler.addHeapSnapshotChunk", ({ chunk }) => {
    const read = end + chunk;
    isFound ||= read.includes(text);
    // It may begin in one part and end in the next.
    end = read.slice(-text.length);
  });
  await session.send("HeapProfiler.collectGarbage");
  await session.send("HeapProfiler.takeHeapSnapshot", { reportProgress: false });
  return isFound;
}
