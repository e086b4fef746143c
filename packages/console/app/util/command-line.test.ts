import { expect, test } from "vitest";
import { toCommandLine } from "./command-line.ts";

test("a command has its options and words as a shell reads them, no key of a terminal, and no option that is none", () => {
  expect(toCommandLine("platform audit", { actor: undefined })).toBe("platform audit");
  expect(
    toCommandLine(
      "platform marketplace search",
      { tag: "it's\u0015\u202E", status: ["A", "B"], limit: 3, free: true, q: "\u200B" },
      "two words\n",
    ),
  ).toBe(String.raw`platform marketplace search --tag='it'\''s' --status=A,B --limit=3 --free 'two words'`);
  expect(toCommandLine("platform operator users", {}, "--state=disabled")).toBe(
    "platform operator users -- --state=disabled",
  );
  expect(toCommandLine("platform operator users", {}, "\n")).toBe("platform operator users");
});
