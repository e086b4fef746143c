import { expect, test } from "vitest";
import { Overdue, within } from "./bounded-wait.ts";

const NEVER = new Promise<never>(() => undefined);

test("a wait that takes too long says what it was for", async () => {
  await expect(within("worker-1 to be ready", 1, NEVER)).rejects.toThrow(/worker-1 to be ready/u);
  await expect(within("worker-1 to be ready", 1, NEVER)).rejects.toBeInstanceOf(Overdue);
});

test("what comes in time is given on, and so is its failure", async () => {
  expect(await within("a number", 60_000, Promise.resolve(7))).toBe(7);
  await expect(within("a number", 60_000, Promise.reject(new Error("none")))).rejects.toThrow("none");
});
