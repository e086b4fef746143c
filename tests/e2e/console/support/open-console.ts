import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { onTestFinished } from "vitest";
import { REPOSITORY } from "../../../../tools/platform-process.ts";
import { createWorld } from "../../../support/world.ts";
import type { World, WorldOptions } from "../../../support/world.ts";
import { openProfile } from "./browser.ts";
import type { ProfileOptions } from "./browser.ts";

/** Pictures of what a failed story saw last. */
const FAILURES = join(REPOSITORY, ".cache/console-failures");

/** A platform for all stories of one file. */
export interface ConsoleWorld extends World {
  /** A new profile of the browser, of the first login unless it says of whom. */
  readonly visit: (options?: ProfileOptions) => Promise<Visit>;
  /** An organisation of its own for one story; the first login is its owner. */
  readonly createOrganisation: (name: string) => Promise<{ readonly id: string; readonly slug: string }>;
}

/** One profile of the browser, with one page. */
export interface Visit {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Opens a path of the console, and waits for its heading. */
  readonly open: (path: string) => Promise<void>;
  /** What the browser has complained about so far: errors, violations of the policy, requests to elsewhere. */
  readonly complaints: readonly string[];
}

export async function openConsole(options: WorldOptions = {}): Promise<ConsoleWorld> {
  // What runs at the end of a file is awaited by nobody.
  const flags = ["--drain-seconds", "1", ...(options.flags ?? [])];
  const world = await createWorld({ ...options, flags });
  return {
    ...world,
    visit: ({ as = world.login, ...visit } = {}) => openVisit(world.platform.apiUrl, { as, ...visit }),
    createOrganisation: async (name) => {
      const { body } = await world.api<{ id: string; slug: string }>("POST", "/organizations", { name });
      return body;
    },
  };
}

/**
 * A new profile of the browser, whose complaints are noted, for one story: pages that stay open go on asking. `origin` is that of the pages,
 * and nobody is signed in unless `as` says who.
 */
export async function openVisit(origin: string, options: ProfileOptions = {}): Promise<Visit> {
  const context = await openProfile(origin, options);
  const complaints: string[] = [];
  const page = await context.newPage();
  collectComplaints(page, origin, complaints);
  onTestFinished(async ({ task }) => {
    try {
      if (task.result?.state === "fail") await savePicture(page);
    } finally {
      await context.close();
    }
  });
  return {
    context,
    page,
    complaints,
    open: async (path) => {
      await page.goto(path);
      await page.locator("h1").first().waitFor();
    },
  };
}

function collectComplaints(page: Page, origin: string, complaints: string[]): void {
  const note = (text: string) => complaints.push(text);
  page.on("console", (message) => {
    const { url } = message.location();
    if (message.type() === "error" && !isExpected(url)) note(`${message.text()} (${url})`);
  });
  page.on("pageerror", (error) => note(String(error)));
  page.on("request", (request) => {
    if (!/^(?:data|blob):/u.test(request.url()) && !request.url().startsWith(`${origin}/`))
      note(`a request to ${request.url()}`);
  });
}

/** Whoever is not signed in is told so by this request, and browsers note every refusal as an error. */
function isExpected(url: string): boolean {
  return url.endsWith("/api/me");
}

async function savePicture(page: Page): Promise<void> {
  if (page.isClosed()) return;
  await mkdir(FAILURES, { recursive: true });
  const name = `${new Date().toISOString().replaceAll(/[^\d]/gu, "")}.png`;
  await page.screenshot({ path: join(FAILURES, name), fullPage: true });
}
