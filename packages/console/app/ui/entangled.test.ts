import { expect, test } from "vitest";
import { isEntangled } from "./entangled.ts";

test.each([
  ["a table of a million cells", `|${"a|".repeat(1_000)}\n|${"-|".repeat(1_000)}\n${"a\n".repeat(1_000)}`],
  ["quotes within quotes", ">".repeat(1_000)],
  ["lists within lists", `${"- ".repeat(1_000)}a`],
  ["numbered lists within lists", `a\n\n${"1. ".repeat(1_000)}a`],
  ["brackets that nothing closes", "[a](".repeat(10_000)],
  ["emphasis within emphasis", `${"*".repeat(1_000)}a${"*".repeat(1_000)}`],
  ["emphasis that waits for its end", `${"**a *a ".repeat(1_000)}${"b* b** ".repeat(1_000)}`],
  ["addresses within an address", "www.a_".repeat(2_000)],
  ["an address that may end at each of its marks", `HTTP://a.a/${"!".repeat(10_000)}a`],
  ["an address that may end at each of its entities", `a (www.a.a/${"&amp;".repeat(2_000)}a`],
  ["thousands of quotes", "> a\n\n".repeat(3_000)],
  ["quotes behind thousands of paragraphs", `${"a\n\n".repeat(15_000)}${"> a\n\n".repeat(1_000)}`],
  ["thousands of lists", "- a\n  1. a\n\nb\n\n".repeat(1_500)],
  ["thousands of lists of nothing", "+\n\nb\n\n1.\n\nb\n\n".repeat(1_500)],
  ["thousands of lists within lists", `${"- ".repeat(40)}a\n`.repeat(1_000)],
  ["thousands of headings underlined", "a\n=\n".repeat(3_000)],
  ["thousands of headings underlined with dashes", "a\r\n  --\t\r\n".repeat(3_000)],
])("%s is not parsed", (_, text) => {
  expect(isEntangled(text)).toBe(true);
});

test("what people write is", () => {
  const row = "| name | what it is | [more](https://example.org) |\n";
  const prose = "# Routes\n\n> - as *short* as it gets\n\n- - - - - - - -\n\n1. one\n   - two\n\n";
  expect(isEntangled(row.repeat(1_000))).toBe(false);
  expect(isEntangled(prose.repeat(500))).toBe(false);
  expect(isEntangled(`https://example.org/?${"a=%20&".repeat(400)} ${"......".repeat(1_000)}`)).toBe(false);
  const answer = {
    items: Array.from({ length: 200 }, (_, id) => ({ id })),
    next: "https://example.org/?page=2",
  };
  expect(isEntangled(`An answer:\n\n\`\`\`json\n${JSON.stringify(answer)}\n\`\`\`\n`)).toBe(false);
  for (const rule of ["-", "*", "_"]) expect(isEntangled(rule.repeat(10_000))).toBe(false);
});

test("a text that is not parsed is judged at once", () => {
  const texts = ["|", ">", "- ", "1. ", " ", "[", "*", "\n", "|\n", "\n ", "=", "www.", "www.a/&a;"].map(
    (part) => part.repeat(262_144 / part.length),
  );
  const before = process.threadCpuUsage();
  for (const text of texts) isEntangled(text);
  // Microseconds of processor time: other work of the machine is no matter.
  expect(process.threadCpuUsage(before).user).toBeLessThan(1_000_000);
});
