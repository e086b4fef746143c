import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, expect, test } from "vitest";
import { MEGABYTE } from "../../base/bytes.ts";
import type { ZygoteMemory } from "./zygote-memory.ts";
import { measureZygote } from "./zygote-memory.ts";

const HOLD =
  "import sys; held = bytearray(80 << 20); held[::4096] = bytes(len(held) // 4096); print(flush=True); ";
const started = [spawn("sleep", ["600"])];
afterAll(() => started.forEach((child) => child.kill("SIGKILL")));

/** A process with a child that holds 80 MB. */
async function startHolder(): Promise<number> {
  const child = spawn("sh", ["-c", `/usr/bin/python3 -I -c '${HOLD}sys.stdin.read()'; true`]);
  started.push(child);
  await once(child.stdout, "data");
  return child.pid ?? 0;
}

async function total(pid: number, ...helpers: readonly number[]): Promise<ZygoteMemory> {
  const memory = await measureZygote({ pid, listHelpers: () => helpers }, true);
  return memory ?? { totalBytes: 0, idleBytes: 0 };
}

test("the memory of a zygote is that of its processes and of those that work for it", async () => {
  const small = started[0]?.pid ?? 0;
  const holder = await startHolder();
  expect((await total(small)).totalBytes).toBeLessThan(10 * MEGABYTE);
  expect((await total(holder)).idleBytes).toBeGreaterThan(80 * MEGABYTE);
  const { totalBytes, idleBytes } = await total(small, holder);
  expect(totalBytes).toBeGreaterThan(80 * MEGABYTE);
  // Ending idle children would free nothing of it.
  expect(idleBytes).toBeLessThan(10 * MEGABYTE);
});

test("a zygote that has ended has no memory, whatever works for it", async () => {
  const child = spawn("true");
  await once(child, "exit");
  const processes = { pid: child.pid ?? 0, listHelpers: () => [started[0]?.pid ?? 0] };
  expect(await measureZygote(processes, false)).toBeNull();
});
