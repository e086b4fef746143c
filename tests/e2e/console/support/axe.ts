import axe from "axe-core";
import type { RunOptions } from "axe-core";
import type { Page } from "playwright-core";

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
    [within, { ...rules, resultTypes: ["violations"] as "violations"[] }] as const,
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ""}`),
  );
}

/** What axe does not see: pages that scroll sideways, and words that are cut off. */
export function findCutText(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth > clientWidth)
      found.push(`the page is ${scrollWidth} px wide, and ${clientWidth} are seen`);
    for (const element of document.querySelectorAll(
      "h1, h2, h3, button, a, th, .state, .mantine-Badge-label",
    )) {
      const style = getComputedStyle(element);
      const isCut = style.overflowX !== "visible" && element.scrollWidth > element.clientWidth + 1;
      // An ellipsis is meant where the whole is at hand in another way: a badge has none.
      const isMeant = style.textOverflow === "ellipsis" && !element.matches(".mantine-Badge-label");
      if (isCut && !isMeant) found.push(`cut: ${element.outerHTML.slice(0, 200)}`);
      const { left, right, width } = element.getBoundingClientRect();
      if (
        width > 0 &&
        (left < -1 || right > clientWidth + 1) &&
        !element.closest(".data-region, pre, .skip-link")
      )
        found.push(`outside of the page: ${element.outerHTML.slice(0, 200)}`);
    }
    return found;
  });
}
