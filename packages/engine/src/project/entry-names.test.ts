import { expect, test } from "vitest";
import { comparePaths, hashContent } from "./content-hash.ts";
import { createNameRegister, findNameFault } from "./entry-names.ts";

test.each(["..", "../x", "a/../x", "a/..", "/x", "C:x", "a\\b", "a\0b", "", "a//b", "a/", "./a", "\uFFFD"])(
  "%j is no name for a file of a project",
  (path) => {
    expect(findNameFault(path)).not.toBeNull();
  },
);

test.each(["a", "a/b.txt", "..a", "a..", "...", "a b", "ü/ñ", ".platformignore", "c++.py"])(
  "%j is a name like any other",
  (path) => {
    expect(findNameFault(path)).toBeNull();
  },
);

test("two Unicode forms of one name, and two cases, cannot stand side by side; folders may be named again", () => {
  const register = createNameRegister();
  expect(register("u\u0308/x", "file")).toBeNull();
  expect(register("\u00fc/y", "file")).toContain("differs from");
  expect(register("U\u0308/z", "file")).toContain("differs from");
  expect(register("u\u0308", "directory")).toBeNull();
  expect(register("u\u0308/x", "file")).toBe("is there twice");
});

test("the content hash does not depend on the order of the files, and orders them by bytes, not by locale", () => {
  const entries = ["b", "a", "ä", "B", "a/b"].map((path) => ({ path, bytes: 1, sha256: path }));
  expect(hashContent(entries)).toBe(hashContent(entries.toReversed()));
  expect(entries.map(({ path }) => path).sort(comparePaths)).toEqual(["B", "a", "a/b", "b", "ä"]);
});

test("the folders that the paths of one project name are bounded, not only its files", () => {
  const register = createNameRegister();
  const faults = new Set<string | null>();
  for (let index = 0; index < 200; index += 1) {
    const folders = Array.from({ length: 60 }, (_, level) => `${index}-${level}`);
    faults.add(register(`${folders.join("/")}/file`, "file"));
  }
  expect([...faults]).toEqual([null, "is one of more than 10000 folders"]);
});
