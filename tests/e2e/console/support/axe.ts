import axe from "axe-core";
import type { RunOptions } from "axe-core";
import type { Page } from "playwright-core";
import { WIDTHS } from "./browser.ts";
import { waitForFrames } from "./settled.ts";

/** WCAG 2.2 AA, and what axe holds for good practice. */
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

interface Barriers {
  /** Only what is within it, e.g. the dialog that has just opened over a page that was looked at before. */
  readonly within?: string;
  /** `contrast`: nothing but the colours, where the page is otherwise as it was. */
  readonly only?: "contrast";
}

/** What axe finds on the page as it is now: rule, and what it concerns; a line each. */
export async function findBarriers(page: Page, { within, only }: Barriers = {}): Promise<readonly string[]> {
  // Once a document: half a megabyte of script takes longer than what it looks at.
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axe.source);
  const rules: RunOptions =
    only === "contrast"
      ? { runOnly: { type: "rule", values: ["color-contrast"] } }
      : { runOnly: { type: "tag", values: TAGS } };
  const { violations } = await page.evaluate(
    async ([where, options]) => {
      const { run } = Reflect.get(globalThis, "axe") as typeof axe;
      return await run(where ?? document, options);
    },
    // Loading the style sheets once more is for rules that are not looked at.
    [within, { ...rules, preload: false, resultTypes: ["violations"] as "violations"[] }] as const,
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ""}`),
  );
}

/**
 * What axe does not see: pages that scroll sideways, words that are cut off or stand letter below letter, and cells whose words lie over the next one. The kit clips within
 * its parts (the label in a button, not the button), so whatever clips is looked at. Words that are cut on purpose have to be at hand for
 * those who see: in a title of theirs or around them. An aria-label is none, and a tooltip that is shown by itself repeats them in a title.
 */
export function findCutText(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    const note = (what: string, element: Element) =>
      found.push(`${what}: ${element.outerHTML.slice(0, 200)}`);
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth > clientWidth)
      found.push(`the page is ${scrollWidth} px wide, and ${clientWidth} are seen`);

    for (const element of document.querySelectorAll<HTMLElement>("body *")) {
      // What is for screen readers alone is one pixel wide, and fields scroll.
      if (element.clientWidth <= 1 || element.matches("input, textarea, select, svg, svg *")) continue;
      const across = element.scrollWidth > element.clientWidth + 1;
      // Half a line: letters may reach out of theirs.
      const down = element.scrollHeight > element.clientHeight + 8;
      const words = element.textContent.trim();
      if ((!across && !down) || words === "") continue;
      const { overflowX, overflowY } = getComputedStyle(element);
      const isCut = (across && /hidden|clip/u.test(overflowX)) || (down && /hidden|clip/u.test(overflowY));
      const title = element.closest("[title]")?.getAttribute("title") ?? "";
      if (isCut && !title.includes(words)) note("cut", element);
      if (across && overflowX === "visible" && element.matches("td, th, dd, dt, label"))
        note("over what is beside it", element);
    }
    const mostLetters = 3;
    for (const element of document.querySelectorAll<HTMLElement>("body *")) {
      const isNarrow = element.clientWidth > 1 && element.clientWidth < 60 && element.clientHeight > 40;
      if (!isNarrow || getComputedStyle(element).whiteSpace.startsWith("pre")) continue;
      for (const node of element.childNodes) {
        if (node.nodeType !== Node.TEXT_NODE) continue;
        const range = document.createRange();
        range.selectNodeContents(node);
        const lines = range.getClientRects().length;
        if (lines > 2 && (node.textContent ?? "").trim().length < mostLetters * lines)
          note("letter below letter", element);
      }
    }
    for (const element of document.querySelectorAll("h1, h2, h3, button, a, label, th, td, dd, .state")) {
      const { left, right, width } = element.getBoundingClientRect();
      const isOutside = width > 0 && (left < -1 || right > clientWidth + 1);
      if (isOutside && !element.closest(".data-region, pre, .skip-link"))
        note("outside of the page", element);
    }
    // A line that ends with an ellipsis hides what is above and below it, too: letters need more than their size.
    for (const element of document.querySelectorAll("button *, a *, p, span")) {
      if (getComputedStyle(element).textOverflow !== "ellipsis") continue;
      const range = document.createRange();
      range.selectNodeContents(element);
      const [line] = range.getClientRects();
      if (line !== undefined && line.bottom > element.getBoundingClientRect().bottom + 0.5)
        found.push(`cut below: ${element.outerHTML.slice(0, 200)}`);
    }
    return found;
  });
}

/** What is wrong with the dialog that is open, wide in light and narrow in dark; the page is then as it was. */
export async function judgeDialog(page: Page): Promise<readonly string[]> {
  const before = page.viewportSize();
  const found: string[] = [];
  for (const [width, colorScheme] of [
    [WIDTHS.wide, "light"],
    [WIDTHS.narrow, "dark"],
  ] as const) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    await waitForFrames(page);
    found.push(...(await findBarriers(page, { within: "[role=dialog]" })), ...(await findCutText(page)));
  }
  await page.emulateMedia({ colorScheme: "light" });
  if (before !== null) await page.setViewportSize(before);
  return found;
}
