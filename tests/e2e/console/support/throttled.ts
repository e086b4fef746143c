import type { BrowserContext, Page } from "playwright-core";
import { watchShifts } from "./settled.ts";

/** A phone of some years ago on a line of the country side: 1.6 Mbit/s, 150 ms. */
const LINE = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 96_000 };
const CPU_RATE = 4;

/** What opening a page took. */
export interface Opened {
  /** Until it showed its heading. */
  readonly ms: number;
  /** What is asked again and again counts once, here and below. */
  readonly requests: number;
  readonly apiRequests: number;
  /** Those of them that the heading has waited for: others begin when what asks for them is there. */
  readonly apiRequestsBefore: number;
  readonly layoutShift: number;
}

/** What is asked for once more later than that is looked at regularly, which a busy machine reaches; sooner, the page asks twice. */
const SOON_MS = 5_000;

/** Opens a page with an empty cache, throttled. `look` has it before it is closed. */
export async function openThrottled(
  context: BrowserContext,
  url: string,
  heading: string,
  look?: (page: Page) => Promise<void>,
): Promise<Opened> {
  await watchShifts(context);
  await context.addInitScript(noteHeading, heading);
  const page = await context.newPage();
  await throttle(page);
  const requested: string[] = [];
  const firstAt = new Map<string, number>();
  page.on("request", (request) => {
    const [asked, now] = [request.url(), performance.now()];
    const first = firstAt.get(asked) ?? now;
    firstAt.set(asked, first);
    if (now - first < SOON_MS) requested.push(asked);
  });
  const began = performance.now();
  await page.goto(url, { waitUntil: "commit" });
  await page.getByRole("heading", { level: 1, name: heading }).waitFor();
  const ms = performance.now() - began;
  await page.waitForLoadState("networkidle");
  const layoutShift = await page.evaluate(() => globalThis.shifts.sum);
  const apiRequestsBefore = await page.evaluate(countApiRequestsBefore);
  await look?.(page);
  await page.close();
  return {
    ms,
    layoutShift,
    apiRequestsBefore,
    requests: requested.length,
    apiRequests: requested.filter((one) => new URL(one).pathname.startsWith("/api/")).length,
  };
}

declare global {
  /** When the page got its heading; in milliseconds since it was opened. */
  var headingAt: number | undefined;
}

/** In the browser, before anything else of the page. */
function noteHeading(text: string): void {
  const observer = new MutationObserver(() => {
    if (document.querySelector("h1")?.textContent !== text) return;
    globalThis.headingAt = performance.now();
    observer.disconnect();
  });
  observer.observe(document, { childList: true, characterData: true, subtree: true });
}

/** In the browser: those that had been answered by then. What begins with the heading has not. */
function countApiRequestsBefore(): number {
  const { headingAt = 0 } = globalThis;
  return performance
    .getEntriesByType("resource")
    .filter((entry) => entry instanceof PerformanceResourceTiming)
    .filter(({ name }) => new URL(name).pathname.startsWith("/api/"))
    .filter(({ responseEnd }) => responseEnd < headingAt).length;
}

async function throttle(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.clearBrowserCache");
  await session.send("Network.emulateNetworkConditions", LINE);
  await session.send("Emulation.setCPUThrottlingRate", { rate: CPU_RATE });
}
