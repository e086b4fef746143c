import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { env } from "node:process";
import type { Locator, Page } from "playwright-core";
import { findBarriers, findCutText } from "./axe.ts";
import type { Laboratory } from "./laboratory.ts";
import { WIDTHS } from "./open-console.ts";
import type { ConsoleWorld } from "./open-console.ts";
import { listPaths, listRoutes } from "./routes.ts";
import type { Route } from "./routes.ts";
import { waitUntilSettled, watchRequests, watchShifts } from "./settled.ts";

/** A folder in which every page is kept as a picture (docs/development.md). */
const PICTURES = env["PLATFORM_TEST_SCREENSHOTS"];
/** Pages that are looked at at one time: while one of them waits for the platform, another one is judged. */
const TABS = 3;
const HEIGHT = 900;
/** 1280 x 1024 at 400 %. */
const ENLARGED = { width: 320, height: 256 } as const;
/** "Good" ends at 0.1 for visitors of the web; a tool that is used all day has to be calmer. */
const MOST_SHIFT = 0.02;

/** What was found on all pages; each line begins with where. */
export interface Findings {
  readonly barriers: string[];
  readonly cut: string[];
  /** What is there on a wide screen, and not at 400 %. */
  readonly lost: string[];
  readonly shifted: string[];
  readonly complaints: string[];
  /** Routes that were looked at. */
  readonly patterns: readonly string[];
}

interface Stop {
  readonly path: string;
  readonly pattern: string;
}

/** Opens every route, each of its tabs, and all that opens over them: in both schemes, at both widths and at 400 %. */
export async function walkConsole(world: ConsoleWorld, lab: Laboratory): Promise<Findings> {
  const findings: Findings = { barriers: [], cut: [], lost: [], shifted: [], complaints: [], patterns: [] };
  const signedIn = await world.visit();
  const stranger = await world.visit({ as: null });
  await signedIn.open(`/o/${lab.provider}`);
  const routes = await listRoutes(signedIn.page);
  const list = (needsSession: boolean) => listStops(routes, needsSession, lab);
  for (const [visit, stops] of [
    [stranger, list(false)],
    [signedIn, list(true)],
  ] as const) {
    await watchShifts(visit.context);
    const opened = new Set<string>();
    await Promise.all(
      Array.from({ length: Math.min(TABS, stops.length) }, async () => {
        const walker = new Walker(await visit.openTab(), findings, opened);
        for (let stop = stops.shift(); stop !== undefined; stop = stops.shift()) await walker.visit(stop);
      }),
    );
    findings.complaints.push(...visit.complaints);
    if (visit === signedIn) await new Walker(visit.page, findings, opened).lookAtShell(`/o/${lab.provider}`);
    await visit.context.close();
  }
  return { ...findings, patterns: routes.map(({ pattern }) => pattern) };
}

function listStops(routes: readonly Route[], needsSession: boolean, lab: Laboratory): Stop[] {
  return routes
    .filter((route) => route.needsSession === needsSession)
    .flatMap(({ pattern }) => listPaths(pattern, lab).map((path) => ({ path, pattern })));
}

class Walker {
  readonly #page: Page;
  readonly #findings: Findings;
  /** What was opened once is not opened again on the next page of the same route. */
  readonly #opened: Set<string>;
  readonly #pending: ReadonlySet<unknown>;

  constructor(page: Page, findings: Findings, opened: Set<string>) {
    this.#page = page;
    this.#findings = findings;
    this.#opened = opened;
    this.#pending = watchRequests(page);
  }

  async visit({ path, pattern }: Stop): Promise<void> {
    const page = this.#page;
    await page.setViewportSize({ width: WIDTHS.wide, height: HEIGHT });
    await page.goto(path);
    await this.#settle();
    const { sum, moved } = await page.evaluate(() => globalThis.shifts);
    if (sum > MOST_SHIFT)
      this.#findings.shifted.push(`${path}: ${sum.toFixed(3)}, most of it by ${moved.join(", ")}`);
    // Links that lead on, and a session that is there already, end on a page that has a stop of its own.
    if (new URL(page.url()).pathname !== path.replace(/\?.*/u, "")) return;
    await this.#look(path);
    await this.#openEach(path, pattern, page.getByRole("main"));
    const tabs = page.getByRole("main").getByRole("tablist").first().getByRole("tab");
    for (const name of (await tabs.allTextContents()).slice(1)) {
      await tabs.filter({ hasText: name }).first().click();
      await this.#settle();
      await this.#look(`${path} ${name}`, "main");
      await this.#openEach(path, pattern, page.getByRole("main"));
    }
  }

  /** Header, palette, keys and drawer. */
  async lookAtShell(path: string): Promise<void> {
    const page = this.#page;
    await page.setViewportSize({ width: WIDTHS.wide, height: HEIGHT });
    await page.goto(path);
    await this.#settle();
    await this.#openEach(path, "the header", page.getByRole("banner"));
    for (const key of ["Control+k", "?"]) {
      await page.keyboard.press(key);
      await this.#lookAtOverlay(`${path} ${key}`, page.getByRole("dialog"));
    }
    await page.setViewportSize({ width: WIDTHS.narrow, height: HEIGHT });
    await page.getByRole("button", { name: "Pages and organisation" }).click();
    const drawer = page.getByRole("dialog", { name: "Pages" });
    await drawer.waitFor();
    this.#note("barriers", `${path} drawer`, await findBarriers(page, { within: "[role=dialog]" }));
    this.#note("cut", `${path} drawer`, await findCutText(page));
  }

  /** Dialogs and menus, each once a route. */
  async #openEach(path: string, pattern: string, where: Locator): Promise<void> {
    const openers = where.locator(
      "button:is([aria-haspopup=dialog], [aria-haspopup=menu], [aria-haspopup=listbox]):not([aria-disabled=true])",
    );
    for (const opener of await openers.all()) {
      const name = ((await opener.getAttribute("aria-label")) ?? (await opener.textContent()) ?? "").trim();
      const role = (await opener.getAttribute("aria-haspopup")) ?? "";
      if (this.#opened.has(`${pattern} ${name}`) || !(await opener.isVisible())) continue;
      this.#opened.add(`${pattern} ${name}`);
      await opener.click();
      await this.#lookAtOverlay(`${path} ${name}`, this.#page.getByRole(role as "dialog" | "menu").last());
    }
  }

  async #lookAtOverlay(where: string, overlay: Locator): Promise<void> {
    await overlay.waitFor();
    await this.#settle();
    const role = (await overlay.getAttribute("role")) ?? "dialog";
    await this.#look(where, `[role=${role}]`);
    await this.#page.keyboard.press("Escape");
    await overlay.waitFor({ state: "hidden" });
  }

  /** Wide and light, wide and dark, narrow and dark, narrow and light, and at 400 %. What the scheme changes is contrast alone. */
  async #look(where: string, within?: string): Promise<void> {
    const page = this.#page;
    const scope = within === undefined ? {} : { within };
    const judge = async (look: string, only: "contrast" | undefined) => {
      const found = await findBarriers(page, only === undefined ? scope : { ...scope, only });
      this.#note("barriers", `${where} (${look})`, found);
      if (PICTURES !== undefined) await savePicture(page, PICTURES, where, look);
    };
    await judge("wide, light", undefined);
    this.#note("cut", `${where} (wide)`, await findCutText(page));
    const names = await listControls(page, within ?? "main");
    await page.emulateMedia({ colorScheme: "dark" });
    await judge("wide, dark", "contrast");
    await page.setViewportSize({ width: WIDTHS.narrow, height: HEIGHT });
    await judge("narrow, dark", undefined);
    this.#note("cut", `${where} (narrow)`, await findCutText(page));
    await page.emulateMedia({ colorScheme: "light" });
    await judge("narrow, light", "contrast");
    await page.setViewportSize(ENLARGED);
    this.#note("cut", `${where} (at 400 %)`, await findCutText(page));
    const left = new Set(await listControls(page, within ?? "main"));
    this.#note(
      "lost",
      where,
      names.filter((name) => !left.has(name)),
    );
    await page.setViewportSize({ width: WIDTHS.wide, height: HEIGHT });
  }

  #note(what: "barriers" | "cut" | "lost", where: string, found: readonly string[]): void {
    this.#findings[what].push(...found.map((fault) => `${where}: ${fault}`));
  }

  #settle(): Promise<void> {
    return waitUntilSettled(this.#page, this.#pending);
  }
}

/** Names of all that can be pressed or filled, and that can be seen. */
function listControls(page: Page, within: string): Promise<readonly string[]> {
  return page
    .locator(within)
    .last()
    .evaluate((root) =>
      [...root.querySelectorAll<HTMLElement>("a[href], button, input, textarea, select, [role=tab]")]
        .filter((control) => control.checkVisibility() && control.getBoundingClientRect().width > 0)
        .map((control) => (control.getAttribute("aria-label") ?? control.textContent ?? "").trim())
        // Times change while one looks.
        .filter((name) => name !== "" && !name.endsWith("ago")),
    );
}

async function savePicture(page: Page, folder: string, where: string, look: string): Promise<void> {
  const name = `${where} ${look}`
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/gu, (id) => id.slice(-4))
    .replaceAll(/[^\w.]+/gu, "-")
    .replaceAll(/^-/gu, "");
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: !where.includes(" ") });
}
