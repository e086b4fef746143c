import { mkdir, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { onTestFinished } from "vitest";
import { REPOSITORY } from "../../../../tools/platform-process.ts";
import { createDesk, createWorld, removeUnlessKept } from "../../../support/world.ts";
import type { Desk, World, WorldOptions } from "../../../support/world.ts";
import { openProfile } from "./browser.ts";
import type { ProfileOptions } from "./browser.ts";
import { createPerson } from "./people.ts";
import { waitForFrames } from "./settled.ts";
import { findSharedPlatform } from "./shared-platform.ts";
import { signUpWithToken } from "./sign-up.ts";

/** Pictures of what a failed story saw last. */
const FAILURES = join(REPOSITORY, ".cache/console-failures");

/** A user for all stories of one file. */
export interface ConsoleWorld extends Desk {
  /** That of the platform, for what only its database can be told. */
  readonly dataDirectory: string;
  /** A new profile of the browser, of the user unless it says of whom. */
  readonly visit: (options?: ProfileOptions) => Promise<Visit>;
  /** An organisation of its own for one story; the user is its owner. */
  readonly createOrganisation: (name: string) => Promise<{ readonly id: string; readonly slug: string }>;
  readonly close: () => Promise<void>;
}

/** Likewise on a platform of its own, whose operator the user is. */
export interface OwnConsole extends ConsoleWorld, World {}

/** One profile of the browser, with one page. */
export interface Visit {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Opens a path of the console, and waits for its heading. */
  readonly open: (path: string) => Promise<void>;
  /** What the browser has complained about so far: errors, violations of the policy, requests to elsewhere. */
  readonly complaints: readonly string[];
}

/**
 * A user of the platform that files share, who is nobody's operator; for stories that need nothing else of a platform of their own. What they
 * make is among what other files make at the same time: they look for it by words of their own in the marketplace.
 */
export async function joinConsole(): Promise<ConsoleWorld> {
  const { dataDirectory, readLog, ...urls } = await findSharedPlatform();
  const login = await signUpWithToken(urls, createPerson("Story"));
  const directory = await mkdtemp(join(tmpdir(), "platform-story-"));
  return {
    ...createBrowsing(createDesk(directory, login, readLog)),
    dataDirectory,
    close: () => removeUnlessKept(directory),
  };
}

/** A platform of its own, for stories that need settings of theirs, its operator, or a part of it to end. */
export async function openConsole(options: WorldOptions = {}): Promise<OwnConsole> {
  // What runs at the end of a file is awaited by nobody.
  const flags = ["--drain-seconds", "1", ...(options.flags ?? [])];
  const world = await createWorld({ ...options, flags });
  return createBrowsing(world);
}

function createBrowsing<D extends Desk>(desk: D): D & Pick<ConsoleWorld, "visit" | "createOrganisation"> {
  const { login } = desk;
  return {
    ...desk,
    visit: ({ as = login, ...visit } = {}) => openVisit(login.apiUrl, { as, ...visit }),
    createOrganisation: async (name) => {
      const { body } = await desk.api<{ id: string; slug: string }>("POST", "/organizations", { name });
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
      // Keys are listened to from what is painted on.
      await waitForFrames(page);
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
