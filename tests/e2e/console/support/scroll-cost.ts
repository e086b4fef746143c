import type { Locator } from "playwright-core";
import { waitForFrames } from "./settled.ts";

const STEPS = 60;
/** On a busy machine most rounds measure what others leave of its caches. */
const MOST_ROUNDS = 10;

/**
 * What it takes the page to scroll through a list from end to end, as a multiple of what the same takes where a bare page draws as many
 * lines by hand, in the best of ten rounds, or the first one below `enough`. Both are the processor's time of the page's own thread: what other
 * processes do in the meantime is in neither.
 */
export async function compareScrolling(list: Locator, line: string, enough: number): Promise<number> {
  const page = list.page();
  const session = await page.context().newCDPSession(page);
  const readSeconds = async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return metrics.find(({ name }) => name === "ThreadTime")?.value ?? Number.NaN;
  };
  const measure = async (scroll: () => Promise<void>) => {
    const before = await readSeconds();
    await scroll();
    return (await readSeconds()) - before;
  };
  await session.send("Performance.enable");
  // In the middle, where it draws beyond both edges of what is seen.
  await list.evaluate((element) => element.scrollTo(0, element.scrollHeight / 2));
  await waitForFrames(page);
  const drawn = await list.locator(line).count();
  const height = await list.evaluate(({ scrollHeight }) => scrollHeight);
  const bare = await page.evaluateHandle(addBareList, { drawn, height });
  try {
    let best = Number.POSITIVE_INFINITY;
    for (let round = 0; round < MOST_ROUNDS && best >= enough; round += 1) {
      const seconds = await measure(() => list.evaluate(scrollThrough, STEPS));
      best = Math.min(best, seconds / (await measure(() => bare.evaluate(scrollThrough, STEPS))));
    }
    return best;
  } finally {
    await bare.evaluate((element) => element.remove());
    await session.detach();
  }
}

/** In the browser: waits after each step until it is drawn. */
async function scrollThrough(element: Element, steps: number): Promise<void> {
  for (let step = 0; step <= steps; step += 1) {
    element.scrollTop = (element.scrollHeight * step) / steps;
    await new Promise(requestAnimationFrame);
  }
}

/** In the browser: an element that scrolls over as much height, and draws the lines that are seen. */
function addBareList({ drawn, height }: { readonly drawn: number; readonly height: number }): Element {
  const list = document.createElement("div");
  list.style.cssText =
    "position: fixed; inset: 0 auto auto 0; width: 900px; height: 400px; overflow: auto; contain: strict; white-space: pre";
  const tall = document.createElement("div");
  tall.style.cssText = `position: relative; height: ${height}px`;
  list.addEventListener("scroll", () => {
    const lines = Array.from({ length: drawn }, (_, index) => {
      const element = document.createElement("div");
      element.style.cssText = `position: absolute; top: 0; left: 0; transform: translateY(${list.scrollTop + 20 * index}px)`;
      element.textContent = `2026-11-30 12:00:00.000 INFO line ${list.scrollTop + index}`;
      return element;
    });
    tall.replaceChildren(...lines);
  });
  list.append(tall);
  document.body.append(list);
  return list;
}
