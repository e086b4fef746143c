import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openDoor } from "./door.ts";
import type { Door } from "./door.ts";

let folder: string;
let path: string;
let door: Door | undefined;
let callers: Socket[] = [];
/** Whether a connection is idle, in the order in which they came. */
let idle: boolean[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "door-"));
  path = join(folder, "door");
});
afterEach(() => {
  for (const caller of callers) caller.destroy();
  door?.close();
  rmSync(folder, { recursive: true });
  [callers, idle] = [[], []];
});

async function open(limits: { readonly connections: number; readonly stillMs: number }): Promise<void> {
  let count = 0;
  door = await openDoor(
    path,
    (connection) => {
      const place = count;
      count += 1;
      connection.on("data", (data) => connection.write(data));
      return { isIdle: () => idle[place] === true };
    },
    limits,
  );
}

/** Answered once: it is in. */
async function enter(): Promise<Socket> {
  const caller = connect(path);
  callers.push(caller);
  caller.on("error", () => undefined);
  caller.write("x");
  await new Promise((resolve) => void caller.once("data", resolve).once("close", resolve));
  return caller;
}

test("where a door is full, a connection that asks for nothing is closed for a new one", async () => {
  await open({ connections: 3, stillMs: 60_000 });
  idle = [false, true, true, false];
  const [asking, first, second] = [await enter(), await enter(), await enter()];
  const late = await enter();
  expect([asking, first, second, late].map(({ closed }) => closed)).toEqual([false, true, false, false]);
});

test("where all ask for something, a new connection is closed", async () => {
  await open({ connections: 2, stillMs: 60_000 });
  idle = [false, false, false];
  const [first, second] = [await enter(), await enter()];
  const late = await enter();
  expect([first, second, late].map(({ closed }) => closed)).toEqual([false, false, true]);
});

test("a connection over which nothing moves is closed, whatever is set as the timeout of its socket", async () => {
  door = await openDoor(
    path,
    (connection) => {
      connection.setTimeout(0);
      return { isIdle: () => false };
    },
    { connections: 2, stillMs: 20 },
  );
  const caller = connect(path);
  callers.push(caller);
  await once(caller.resume(), "close");
  expect(caller.closed).toBe(true);
});
