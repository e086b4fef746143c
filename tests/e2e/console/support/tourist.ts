import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { env } from "node:process";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import type { ConsoleWorld, Visit } from "./open-console.ts";
import { waitUntilSettled, watchRequests } from "./settled.ts";

/** Where the pictures of docs/guide/console.md go (docs/development.md). */
const PICTURES = env["PLATFORM_TEST_TOUR"];
const WINDOW = { width: 1200, height: 750 } as const;

/** Somebody with a browser of their own, who walks by what the pages offer. */
export interface Tourist extends Visit {
  /** Follows a link of the navigation, to the page of this title. */
  readonly goTo: (name: string) => Promise<void>;
  /** Until the page has this title. */
  readonly title: (name: string | RegExp) => Promise<void>;
  /** Keeps what the window shows as a picture of the guide. */
  readonly keep: (name: string) => Promise<void>;
}

/** In front of the first page; nobody is signed in. */
export async function arrive(world: ConsoleWorld): Promise<Tourist> {
  const visit = await world.visit({ as: null });
  const { page } = visit;
  const pending = watchRequests(page);
  await page.setViewportSize(WINDOW);
  const title = (name: string | RegExp) =>
    page.getByRole("heading", { level: 1, name, exact: typeof name === "string" }).waitFor();
  await visit.open("/");
  return {
    ...visit,
    title,
    goTo: async (name) => {
      const pages = page.getByRole("navigation", { name: "Pages" });
      await pages.getByRole("link", { name, exact: true }).click();
      await title(name);
    },
    keep: (name) => (PICTURES === undefined ? Promise.resolve() : keep(page, pending, join(PICTURES, name))),
  };
}

/** As WebP; without what says for some seconds that something is done, and without a cursor that blinks. */
async function keep(page: Page, pending: ReadonlySet<unknown>, path: string): Promise<void> {
  await mkdir(join(path, ".."), { recursive: true });
  const toasts = page.locator(".mantine-Notification-root");
  await toasts.locator("button").evaluateAll((all) => {
    for (const one of all) if (one instanceof HTMLElement) one.click();
  });
  await page.locator("input:focus, textarea:focus").evaluateAll((all) => {
    for (const one of all) if (one instanceof HTMLElement) one.blur();
  });
  await page.mouse.move(1, WINDOW.height - 1);
  await waitUntilSettled(page, pending);
  // The header's menus come behind the page, and so do charts.
  if ((await page.getByRole("banner").count()) > 0)
    await page.getByRole("button", { name: /^Account of/u, includeHidden: true }).waitFor();
  await expect.poll(() => page.locator(".mantine-Skeleton-root").count()).toBe(0);
  await expect.poll(() => toasts.count()).toBe(0);
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 80 });
  await session.detach();
  await writeFile(`${path}.webp`, Buffer.from(data, "base64"));
}
