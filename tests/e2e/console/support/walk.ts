import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { env } from "node:process";
import type { Locator, Page } from "playwright-core";
import { findBarriers, findCutText } from "./axe.ts";
import { goTo } from "./routes.ts";
import { waitForFrames, waitUntilSettled, watchRequests } from "./settled.ts";
import { IS_FULL_LENGTH } from "../../../support/full-length.ts";

/** A folder in which every page is kept as a picture (docs/development.md). */
const PICTURES = env["PLATFORM_TEST_SCREENSHOTS"];
const WIDE = { width: 1280, height: 900 } as const;
const NARROW = { width: 375, height: 900 } as const;
/** 1280 x 1024 at 400 %. */
const ENLARGED = { width: 320, height: 256 } as const;
/** "Good" ends at 0.1 for visitors of the web; a tool that is used all day has to be calmer. */
const MOST_SHIFT = 0.02;

/*
 * At full length all is judged in both schemes at both widths. Otherwise a route is opened by its address once, and judged wide in light and narrow
 * in dark; its other pages, which are reached without loading the console again, its tabs and dialogs, and each kind of menu, are judged wide
 * in light and at 400 %. That nothing of a page is cut is looked at in all three widths.
 */
/** A full and an empty page of a route show what a tab or dialog can look like. */
const MOST_LOOKS = IS_FULL_LENGTH ? 2 : 1;

/** What was found on all pages; each line begins with where. */
export interface Findings {
  readonly barriers: string[];
  readonly cut: string[];
  /** What is there on a wide screen, and not at 400 %. */
  readonly lost: string[];
  readonly shifted: string[];
  /** Pages that lead on to another one, which is a stop of its own, with where they lead. */
  readonly leading: string[];
}

/** A page that is looked at. */
export interface Stop {
  readonly path: string;
  readonly pattern: string;
}

interface Look {
  /** What is looked at; default: the page. */
  readonly within?: string;
  /** Whether another page of its route was looked at. */
  readonly isAlike?: boolean;
}

/**
 * Looks at pages in one window. A walker needs a profile of its own: Chromium draws a tab that lies behind another one
 * once in 600 ms, and all that is looked at waits to be drawn.
 */
export class Walker {
  readonly #page: Page;
  readonly #findings: Findings;
  readonly #seen: Map<string, number>;
  readonly #pending: ReadonlySet<unknown>;

  /** @param seen how often each route, tab, dialog and menu was looked at, by all walkers */
  constructor(page: Page, findings: Findings, seen: Map<string, number>) {
    this.#page = page;
    this.#findings = findings;
    this.#seen = seen;
    this.#pending = watchRequests(page);
  }

  /** The page, each of its tabs, and all that opens over them. */
  async visit({ path, pattern }: Stop): Promise<void> {
    const page = this.#page;
    const isAlike = !IS_FULL_LENGTH && this.#isSeen(`route ${pattern}`);
    const isBlank = page.url() === "about:blank";
    // What comes to lie under the mouse would open what it says of itself.
    await page.mouse.move(0, 0);
    await (isAlike && !isBlank ? this.#goTo(path) : this.#load(path));
    const { pathname } = new URL(page.url());
    if (pathname !== path.replace(/\?.*/u, "")) {
      this.#findings.leading.push(`${path} leads to ${pathname}`);
      return;
    }
    await this.#look(path, { isAlike });
    await this.#openEach(path, pattern, page.getByRole("main"));
    const tabs = page.getByRole("main").getByRole("tablist").first();
    for (const name of (await tabs.getByRole("tab").allTextContents()).slice(1)) {
      if (this.#isSeen(`${pattern} ${name}`)) continue;
      // Java is not JavaScript.
      await tabs.getByRole("tab", { name, exact: true }).click();
      await this.#settle();
      await this.#look(`${path} ${name}`, { within: "main" });
      await this.#openEach(path, pattern, page.getByRole("main"));
    }
  }

  /** Header, palette, keys and drawer. */
  async lookAtShell(path: string): Promise<void> {
    const page = this.#page;
    await this.#load(path);
    await this.#openEach(path, "the header", page.getByRole("banner"));
    for (const [name, key] of [
      ["palette", "Control+k"],
      ["keys", "?"],
    ] as const) {
      await page.keyboard.press(key);
      await this.#lookAtOverlay(`${path} ${name}`, page.getByRole("dialog"));
    }
    await this.#resize(NARROW);
    await page.getByRole("button", { name: "Pages and organisation" }).click();
    await page.getByRole("dialog", { name: "Pages" }).waitFor();
    await this.#judge(`${path} drawer`, "narrow, light", { within: "[role=dialog]" });
    this.#note("cut", `${path} drawer`, await findCutText(page));
  }

  /** By its address. */
  async #load(path: string): Promise<void> {
    await this.#page.goto(path);
    await this.#settle();
    const { sum, moved } = await this.#page.evaluate(() => globalThis.shifts);
    if (sum > MOST_SHIFT)
      this.#findings.shifted.push(`${path}: ${sum.toFixed(3)}, most of it by ${moved.join(", ")}`);
  }

  /** From the page that is open, as links do. */
  async #goTo(path: string): Promise<void> {
    await goTo(this.#page, path);
    await this.#settle();
  }

  /** Dialogs and menus that were not looked at before. */
  async #openEach(path: string, pattern: string, where: Locator): Promise<void> {
    for (const { name, role, place } of await listOpeners(where)) {
      // Menus of one name have the same form wherever they are.
      if (this.#isSeen(IS_FULL_LENGTH || role === "dialog" ? `${pattern} ${name} ${role}` : name)) continue;
      // What ends while one looks takes its buttons away.
      const same = (await listOpeners(where)).filter((one) => one.name === name && one.role === role);
      const opener = same.find((one) => one.place === place) ?? same[0];
      if (opener === undefined) continue;
      await where.locator(OPENERS).nth(opener.place).click();
      await this.#lookAtOverlay(`${path} ${name}`, this.#page.getByRole(role as "dialog" | "menu").last());
    }
  }

  /** Whether a route, tab, dialog or menu was looked at on so many pages; from now on it counts as one more. */
  #isSeen(what: string): boolean {
    const times = this.#seen.get(what) ?? 0;
    this.#seen.set(what, times + 1);
    return times >= MOST_LOOKS;
  }

  async #lookAtOverlay(where: string, overlay: Locator): Promise<void> {
    await overlay.waitFor();
    await this.#settle();
    const role = (await overlay.getAttribute("role")) ?? "dialog";
    await this.#look(where, { within: `[role=${role}]` });
    await this.#page.keyboard.press("Escape");
    await overlay.waitFor({ state: "hidden" });
  }

  /** Wide and light, wide and dark, narrow and dark, narrow and light, and at 400 %. What the scheme changes is contrast alone. */
  async #look(where: string, { within, isAlike = false }: Look): Promise<void> {
    const page = this.#page;
    const all = within === undefined ? {} : { within };
    await this.#judge(where, "wide, light", all);
    this.#note("cut", `${where} (wide)`, await findCutText(page));
    const names = await listControls(page, within ?? "main");
    if (IS_FULL_LENGTH || within === undefined) {
      if (!isAlike) await page.emulateMedia({ colorScheme: "dark" });
      if (IS_FULL_LENGTH) await this.#judge(where, "wide, dark", { ...all, only: "contrast" });
      await this.#resize(NARROW);
      if (!isAlike) await this.#judge(where, "narrow, dark", all);
      this.#note("cut", `${where} (narrow)`, await findCutText(page));
      if (!isAlike) await page.emulateMedia({ colorScheme: "light" });
      if (IS_FULL_LENGTH) await this.#judge(where, "narrow, light", { ...all, only: "contrast" });
    }
    await this.#resize(ENLARGED);
    this.#note("cut", `${where} (at 400 %)`, await findCutText(page));
    const left = new Set(await listControls(page, within ?? "main"));
    const lost = names.filter((name) => !left.has(name));
    this.#note("lost", where, lost);
    await this.#resize(WIDE);
  }

  async #judge(where: string, look: string, options: Parameters<typeof findBarriers>[1]): Promise<void> {
    this.#note("barriers", `${where} (${look})`, await findBarriers(this.#page, options));
    if (PICTURES !== undefined) await savePicture(this.#page, PICTURES, where, look);
  }

  async #resize(size: { readonly width: number; readonly height: number }): Promise<void> {
    await this.#page.setViewportSize(size);
    // What floats is placed anew.
    await waitForFrames(this.#page);
  }

  #note(what: "barriers" | "cut" | "lost", where: string, found: readonly string[]): void {
    this.#findings[what].push(...found.map((fault) => `${where}: ${fault}`));
  }

  #settle(): Promise<void> {
    return waitUntilSettled(this.#page, this.#pending);
  }
}

const OPENERS =
  "button:is([aria-haspopup=dialog], [aria-haspopup=menu], [aria-haspopup=listbox]):not([aria-disabled=true])";

/** What opens something over the page, and can be seen, with its place among OPENERS. */
function listOpeners(where: Locator) {
  return where.locator(OPENERS).evaluateAll((buttons) =>
    buttons.flatMap((button, place) => {
      const name = (button.getAttribute("aria-label") ?? button.textContent).trim();
      const role = button.getAttribute("aria-haspopup") ?? "";
      return button.checkVisibility() ? [{ name, role, place }] : [];
    }),
  );
}

/** Names of all that can be pressed or filled, and that can be seen. */
function listControls(page: Page, within: string): Promise<readonly string[]> {
  return page
    .locator(within)
    .last()
    .evaluate((root) =>
      [...root.querySelectorAll<HTMLElement>("a[href], button, input, textarea, select, [role=tab]")]
        .filter((control) => control.checkVisibility() && control.getBoundingClientRect().width > 0)
        .map((control) => (control.getAttribute("aria-label") ?? control.textContent).trim())
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
  // What lies over a page is fixed to the window.
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: !where.includes(" ") });
}
