import { expect, test } from "vitest";
import { findCommands, readQuery } from "./find-commands.ts";

const commands = ["Applications", "Home", "nightly batch", "Batch of Ada", "Night shift"].map((label) => ({
  id: label,
  label,
  group: "Page",
  run: () => undefined,
}));
const find = (query: string) => findCommands(commands, query).map(({ label }) => label);

test("what begins with the words comes first, whatever their case", () => {
  expect(find("BATCH")).toEqual(["Batch of Ada", "nightly batch"]);
});

test("all words are wanted, in any order", () => {
  expect(find("batch night")).toEqual(["nightly batch"]);
});

test("without a word everything is offered, and without a match nothing", () => {
  expect(find("  ")).toHaveLength(5);
  expect(find("nowhere")).toEqual([]);
});

test("what is quiet is found by its other words, and not offered to who has typed nothing", () => {
  const quiet = { id: "q", label: "OUT_OF_MEMORY", group: "Code", words: "out of memory", isQuiet: true };
  const all = [...commands, { ...quiet, run: () => undefined }];
  expect(findCommands(all, "")).toHaveLength(5);
  expect(findCommands(all, "out of mem").map(({ id }) => id)).toEqual(["q"]);
});

test("an identifier and a code are told from words", () => {
  const id = "0198C1DE-7A53-7000-8000-000000000000";
  expect(readQuery(` ${id} `)).toEqual({ kind: "id", value: id.toLowerCase() });
  expect(readQuery("NO_ROUTE_FOUND")).toEqual({ kind: "code", value: "NO_ROUTE_FOUND" });
  for (const words of ["TSP", "no_route", "OUT_", "0198c1de-7a53"]) expect(readQuery(words)).toBeNull();
});
