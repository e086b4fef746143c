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
])("%s is not parsed", (_, text) => {
  expect(isEntangled(text)).toBe(true);
});

test("what people write is", () => {
  const row = "| name | what it is | [more](https://example.org) |\n";
  const prose = "# Routes\n\n> - as *short* as it gets\n\n- - - - - - - -\n\n1. one\n   - two\n\n";
  expect(isEntangled(row.repeat(1_000))).toBe(false);
  expect(isEntangled(prose.repeat(500))).toBe(false);
  for (const rule of ["-", "*", "_"]) expect(isEntangled(rule.repeat(10_000))).toBe(false);
});

test("a text that is not parsed is judged at once", () => {
  const texts = ["|", ">", "- ", "1. ", " ", "[", "*", "\n", "|\n", "\n "].map((part) =>
    part.repeat(262_144 / part.length),
  );
  const before = process.threadCpuUsage();
  for (const text of texts) isEntangled(text);
  // Microseconds of processor time: other work of the machine is no matter.
  expect(process.threadCpuUsage(before).user).toBeLessThan(1_000_000);
});
