import type { BrowserContext, Page } from "playwright-core";
import { watchShifts } from "./settled.ts";

/** A phone of some years ago on a line of the country side: 1.6 Mbit/s, 150 ms. */
const LINE = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 96_000 };
const CPU_RATE = 4;

/** What opening a page took. */
export interface Opened {
  /** Until it showed its heading. */
  readonly ms: number;
  readonly requests: number;
  readonly apiRequests: number;
  readonly layoutShift: number;
}

/** Opens a page with an empty cache, throttled. */
export async function openThrottled(context: BrowserContext, url: string, heading: string): Promise<Opened> {
  await watchShifts(context);
  const page = await context.newPage();
  await throttle(page);
  const requested: string[] = [];
  page.on("request", (request) => requested.push(new URL(request.url()).pathname));
  const began = performance.now();
  await page.goto(url, { waitUntil: "commit" });
  await page.getByRole("heading", { level: 1, name: heading }).waitFor();
  const ms = performance.now() - began;
  await page.waitForLoadState("networkidle");
  const layoutShift = await page.evaluate(() => globalThis.shifts.sum);
  await page.close();
  return {
    ms,
    layoutShift,
    requests: requested.length,
    apiRequests: requested.filter((path) => path.startsWith("/api/")).length,
  };
}

async function throttle(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.clearBrowserCache");
  await session.send("Network.emulateNetworkConditions", LINE);
  await session.send("Emulation.setCPUThrottlingRate", { rate: CPU_RATE });
}
