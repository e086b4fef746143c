import { expect, test } from "vitest";
import { findCommands } from "./find-commands.ts";

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
