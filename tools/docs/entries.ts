import type { Page } from "./pages.ts";

/** Pages to which many changes add entries. Git merges the lines of both sides, which can duplicate an entry. */
const DECISIONS = "docs/decisions.md";
const PAGES = new Set([DECISIONS, "CHANGELOG.md"]);

/** So much of an entry names it. */
const NAME_LENGTH = 60;
const DATED = /^\*\d{4}-\d{2}-\d{2}\* /;

/** Checks that every entry occurs once, and that decisions have a date and subjects as their sections. */
export function findEntryFaults({ path, text }: Page): readonly string[] {
  if (!PAGES.has(path)) return [];
  const entries = [...text.matchAll(/^- (.+(?:\n {2}.+)*)/gmu)].map(([, entry]) =>
    (entry ?? "").replace(/\s+/gu, " "),
  );
  const names = entries
    .filter((entry) => !entry.startsWith("["))
    .map((entry) => entry.slice(0, NAME_LENGTH).trimEnd());
  const repeated = names.filter((name, index) => names.indexOf(name) !== index);
  return [
    ...repeated.map((name) => `occurs twice, keep the latest: ${name} ...`),
    ...(path === DECISIONS ? findUndated(names, text) : []),
  ];
}

function findUndated(names: readonly string[], text: string): readonly string[] {
  const [heading] = /^## \d{4}-.*$/mu.exec(text) ?? [];
  if (heading !== undefined)
    return [
      `sections are subjects without a date, but there is "${heading}": put its entries below their subject`,
    ];
  return names
    .filter((name) => !DATED.test(name))
    .map((name) => `begins without its date (*2026-11-22*): ${name} ...`);
}
