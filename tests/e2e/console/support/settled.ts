import type { BrowserContext, Page, Request } from "playwright-core";

const LOOK_EVERY_MS = 40;
/** Looks in a row at which nothing is awaited: an answer may lead to the next request. */
const QUIET_LOOKS = 3;

/** What the page has moved by itself since it was opened. */
interface Shifts {
  readonly sum: number;
  /** Where, the last ones. */
  readonly moved: readonly string[];
}

declare global {
  var shifts: Shifts;
}

/** From now on pages of this profile count what moves without the user: the sum as Chromium reports it, see web.dev/articles/cls. */
export async function watchShifts(context: BrowserContext): Promise<void> {
  await context.addInitScript(() => {
    interface LayoutShift extends PerformanceEntry {
      readonly value: number;
      readonly hadRecentInput: boolean;
      readonly sources: readonly { readonly node: Node | null }[];
    }
    globalThis.shifts = { sum: 0, moved: [] };
    new PerformanceObserver((list) => {
      for (const { value, hadRecentInput, sources } of list.getEntries() as LayoutShift[])
        if (!hadRecentInput)
          globalThis.shifts = {
            sum: globalThis.shifts.sum + value,
            moved: [
              ...globalThis.shifts.moved,
              ...sources.map(({ node }) =>
                node instanceof Element ? node.outerHTML.slice(0, 120) : (node?.textContent ?? ""),
              ),
            ].slice(-4),
          };
    }).observe({ type: "layout-shift", buffered: true });
  });
}

/** The requests of a page that are not answered; streams never are. */
export function watchRequests(page: Page): ReadonlySet<unknown> {
  const pending = new Set<Request>();
  page.on("request", (request) => {
    if (!new URL(request.url()).pathname.endsWith("/events")) pending.add(request);
  });
  page.on("requestfinished", (request) => pending.delete(request));
  page.on("requestfailed", (request) => pending.delete(request));
  return pending;
}

/** Until the page has its heading and asks for nothing more. */
export async function waitUntilSettled(page: Page, pending: ReadonlySet<unknown>): Promise<void> {
  await page.locator("h1").first().waitFor();
  for (let quiet = 0; quiet < QUIET_LOOKS; quiet = pending.size === 0 ? quiet + 1 : 0)
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  await waitForFrames(page);
}

/** Until what has changed is laid out and painted. */
export async function waitForFrames(page: Page): Promise<void> {
  await page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
  );
}
