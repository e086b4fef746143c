import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createMover } from "./mover.ts";
import type { Mover } from "./mover.ts";

let folder: string;
let mover: Mover;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "mover-"));
  mover = createMover();
});
afterEach(async () => {
  await mover.close();
  rmSync(folder, { recursive: true });
});

test("those who come while a process is being moved are moved after it, in their order", async () => {
  const doors = ["memory", "cpu"].map((name) => openSync(join(folder, name), "w"));
  const order: number[] = [];
  const pids = [101, 102, 103, 104];
  await Promise.all(pids.map(async (pid) => void (await mover.move(doors, pid), order.push(pid))));
  doors.forEach(closeSync);
  expect(order).toEqual(pids);
  for (const name of ["memory", "cpu"]) expect(readFileSync(join(folder, name), "utf8")).toBe("104");
});

test("a move that the system refuses is refused alone: those that waited for it are made", async () => {
  const door = openSync(join(folder, "memory"), "w");
  const readOnly = openSync(join(folder, "memory"), "r");
  const moves = [mover.move([readOnly], 1), mover.move([readOnly], 2), mover.move([door], 3)];
  const ends = await Promise.allSettled([...moves, mover.move([readOnly], 4), mover.move([door], 5)]);
  [door, readOnly].forEach(closeSync);
  expect(ends.map(({ status }) => status)).toEqual([
    "rejected",
    "rejected",
    "fulfilled",
    "rejected",
    "fulfilled",
  ]);
  expect(readFileSync(join(folder, "memory"), "utf8")).toBe("5");
});
