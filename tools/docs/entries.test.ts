import { expect, test } from "vitest";
import { findEntryFaults } from "./entries.ts";

const check = (text: string, path = "docs/decisions.md") => findEntryFaults({ path, text });
const ENTRY = "- *2026-11-22* **One thing is so**, because the other one was tried and is slower.";

test("entries with a date, below a subject, are well", () => {
  expect(
    check(`# Decisions\n\n- [Queue](#queue)\n\n## Queue\n\n${ENTRY}\n- *2026-11-21* **Another.**\n`),
  ).toEqual([]);
});

test("an entry that a merge left twice is found, also where only one of them is wrapped", () => {
  const wrapped = ENTRY.replace("because ", "because\n  ");
  expect(check(`${ENTRY}\n${wrapped}\n`)).toEqual([
    "occurs twice, keep the latest: *2026-11-22* **One thing is so**, because the other one was ...",
  ]);
  expect(check("- Fixed.\n- Fixed.\n", "CHANGELOG.md")).toEqual([
    "occurs twice, keep the latest: Fixed. ...",
  ]);
});

test("an entry without a date and a section with one are faults of the decisions", () => {
  expect(check("## Queue\n\n- **One thing.**\n")).toEqual([
    "begins without its date (*2026-11-22*): **One thing.** ...",
  ]);
  expect(check("## 2026-11-22 - Queue\n\n- **One thing.**\n")).toEqual([
    'sections are subjects without a date, but there is "## 2026-11-22 - Queue": put its entries below their subject',
  ]);
  expect(check("- **One thing.**\n", "CHANGELOG.md")).toEqual([]);
});

test("lists of other pages are not looked at", () => {
  expect(check("- a\n- a\n", "README.md")).toEqual([]);
});
