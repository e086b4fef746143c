import { expect, test } from "vitest";
import { WIDTH, wrapPage } from "./wrap.ts";

const WORDS = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen";

test("a paragraph that is too wide is filled; one that fits is left as it is", () => {
  expect(wrapPage(`${WORDS} ${WORDS}\n\nshort\nlines\n`)).toBe(
    `${WORDS} one two\nthree four five six seven eight nine ten eleven twelve thirteen fourteen fifteen\n\nshort\nlines\n`,
  );
});

test("the lines of an item stand below its text, and each item stays one", () => {
  expect(wrapPage(`- ${WORDS} ${WORDS}\n- short\n`)).toBe(
    `- ${WORDS} one two\n  three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen\n- short\n`,
  );
});

test("text of an item that goes on after a blank line keeps its indent", () => {
  const [first = ""] = wrapPage(`1. item\n\n   ${WORDS} ${WORDS}`).split("\n").slice(3);
  expect(first).toMatch(/^ {3}t/);
});

test.each([
  ["a table", `| ${WORDS} | ${WORDS} |`],
  ["a fence", `\`\`\`sh\n${WORDS} ${WORDS}\n\`\`\``],
  ["indented code", `\n    ${WORDS} ${WORDS}`],
  ["a heading", `## ${WORDS} ${WORDS}`],
  ["a comment", `<!-- ${WORDS} ${WORDS} -->`],
])("%s is left as it is", (_what, text) => {
  expect(wrapPage(text)).toBe(text);
});

test("code is not broken, and no line begins with what would be a list or a heading", () => {
  const filling = "x".repeat(WIDTH - 4);
  expect(wrapPage(`${filling} \`a command\` more`)).toBe(`${filling}\n\`a command\` more`);
  expect(wrapPage(`${filling} ab - c`)).toBe(`${filling} ab -\nc`);
  expect(wrapPage(`${filling} ab 12. c`)).toBe(`${filling} ab 12.\nc`);
  expect(wrapPage(`${filling} ab **c**`)).toBe(`${filling} ab\n**c**`);
});

test("a page that was wrapped is not changed again", () => {
  const once = wrapPage(
    `> ${WORDS} ${WORDS}\n\n- ${WORDS} \`${WORDS}\` ${WORDS}\n  ${"y".repeat(WIDTH)} z\n`,
  );
  expect(wrapPage(once)).toBe(once);
});
