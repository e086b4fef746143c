import { expect, test } from "vitest";
import { readOmitted } from "./read-omitted.ts";

test("files that were left out are read from the metadata, with their reasons", () => {
  const metadata = '{"own": 1e400, "_omittedFiles": [{"name": "link", "reason": "it is a link"}, 7]}';
  expect(readOmitted(metadata)).toEqual([{ name: "link", reason: "it is a link" }]);
});

test.each([null, "null", "[1]", '{"_omittedFiles": "mine"}'])("metadata %s names none", (metadata) => {
  expect(readOmitted(metadata)).toEqual([]);
});
