import type { BrowserContext, Page } from "playwright-core";

/** What the main thread of a page was busy with, in milliseconds. */
export interface PaintTimes {
  /** Until something was painted: the empty shell. */
  readonly firstPaintMs: number;
  /** The longest task so far; 0: none took 50 ms. */
  readonly longestTaskMs: number;
  /** From a click until the heading of another page that was open before. */
  readonly navigationMs: number;
  /** From a click until what is painted next. */
  readonly interactionMs: number;
}

declare global {
  /** In milliseconds, by type of entry. */
  var longest: { longtask: number; event: number };
}

/** From now on pages of this profile keep their longest task, and the longest time from an event until what is painted next. */
export async function watchTasks(context: BrowserContext): Promise<void> {
  await context.addInitScript(() => {
    globalThis.longest = { longtask: 0, event: 0 };
    for (const type of ["longtask", "event"] as const) {
      const options: PerformanceObserverInit & { readonly durationThreshold: number } = {
        type,
        buffered: true,
        durationThreshold: 16,
      };
      new PerformanceObserver((list) => {
        for (const { duration } of list.getEntries())
          globalThis.longest[type] = Math.max(globalThis.longest[type], duration);
      }).observe(options);
    }
  });
}

/** Of a page of the console that has just been opened: goes to another one of its navigation and back until both are known. */
export async function readPaintTimes(page: Page, here: string, there: string): Promise<PaintTimes> {
  const { longtask } = await page.evaluate(() => globalThis.longest);
  const firstPaintMs = await page.evaluate(
    () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.NaN,
  );
  for (const heading of [there, here]) {
    await page.evaluate(goTo, heading);
    await page.waitForLoadState("networkidle");
  }
  const navigationMs = await page.evaluate(goTo, there);
  // Only what comes of a real device counts as an event.
  await page.getByRole("navigation").getByRole("link", { name: here, exact: true }).click();
  await page.getByRole("heading", { level: 1, name: here, exact: true }).waitFor();
  await page.waitForFunction(() => globalThis.longest.event > 0);
  const { event } = await page.evaluate(() => globalThis.longest);
  return { firstPaintMs, longestTaskMs: longtask, navigationMs, interactionMs: event };
}

/** In the browser: presses a link of the navigation, and waits until the page that it leads to is painted. */
async function goTo(heading: string): Promise<number> {
  const link = [...document.querySelectorAll<HTMLElement>("nav a")].find(
    ({ textContent }) => textContent.trim() === heading,
  );
  if (link === undefined) throw new Error(`no link is called ${heading}`);
  const began = performance.now();
  link.click();
  while (document.querySelector("h1")?.textContent !== heading) await new Promise(requestAnimationFrame);
  await new Promise(requestAnimationFrame);
  return performance.now() - began;
}

/** What fixed work takes in a page, in milliseconds: what the processor of the run is worth. */
export function readFixedWork(page: Page): Promise<number> {
  return page.evaluate(() => {
    const began = performance.now();
    Array.from({ length: 50_000 }, (_, index) => (index * 7919) % 50_021).sort((one, other) => one - other);
    return performance.now() - began;
  });
}
