import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open as openFile } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { afterAll, afterEach, expect, test } from "vitest";
import { MINUTE } from "../base/time.ts";
import { createJsonCheck } from "./json-check.ts";
import type { JsonCheck } from "./json-check.ts";

const folder = mkdtempSync(join(tmpdir(), "json-check-"));
afterAll(() => rmSync(folder, { recursive: true }));

const open: JsonCheck[] = [];
afterEach(() => Promise.all(open.splice(0).map((check) => check.close())));

function createCheck(idleMs = MINUTE): JsonCheck {
  const check = createJsonCheck({ idleMs });
  open.push(check);
  return check;
}

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const threads = (): number =>
  readdirSync("/proc/self/task").filter((id) =>
    readFileSync(`/proc/self/task/${id}/comm`, "utf8").startsWith("json-check"),
  ).length;

test("says where an object is, what there is instead, and that a file is not there", async () => {
  const check = createCheck();
  const path = write("cities.json", '{"n":2,"cities":[{"x":1},{"x":"ö"}]}\n');
  expect(await check.ask("a", { path, pointer: [] })).toEqual({
    form: "object",
    range: { start: 0, end: 38 },
  });
  expect(await check.ask("a", { path, pointer: ["cities", "1"] })).toEqual({
    form: "object",
    range: { start: 25, end: 35 },
  });
  expect(await check.ask("a", { path, pointer: ["n"] })).toEqual({
    form: "other",
    detail: "the value there is no object",
  });
  expect(await check.ask("a", { path: write("array.json", "[1]"), pointer: [] })).toEqual({
    form: "other",
    detail: 'byte 0: expected a "{"',
  });
  await expect(check.ask("a", { path: join(folder, "missing.json"), pointer: [] })).rejects.toThrow("ENOENT");
  expect(await check.ask("a", { path, pointer: ["cities", "0"] })).toMatchObject({ form: "object" });
});

test("takes owners in turns, and those of one owner in the order in which they asked", async () => {
  const check = createCheck();
  const path = write("empty.json", "{}");
  const order: string[] = [];
  const ask = (owner: string, name: string): Promise<void> =>
    check.ask(owner, { path, pointer: [] }).then(() => void order.push(name));
  await Promise.all([
    ask("a", "a1"),
    ask("a", "a2"),
    ask("a", "a3"),
    ask("b", "b1"),
    ask("b", "b2"),
    ask("c", "c1"),
  ]);
  expect(order).toEqual(["a1", "a2", "b1", "c1", "a3", "b2"]);
});

test("ends its thread when nothing is asked, and starts another one", async () => {
  const check = createCheck(0);
  const path = write("object.json", "{}");
  await expect.poll(threads).toBe(0);
  for (const time of ["once", "again"]) {
    const answer = check.ask(time, { path, pointer: [] });
    await expect.poll(threads).toBe(1);
    expect(await answer).toMatchObject({ form: "object" });
    await expect.poll(threads).toBe(0);
  }
});

test("answers what is asked while its last thread is still ending", async () => {
  const check = createCheck(0);
  const question = { path: write("early.json", "{}"), pointer: [] };
  await check.ask("a", question);
  // Behind the timer that ends the thread, which has the same time and was set before.
  await setTimeout(1);
  expect(await check.ask("a", question)).toMatchObject({ form: "object" });
});

test("refuses one question when its thread ends, and goes on with the next", async () => {
  const check = createCheck();
  const path = write("first.json", "{}");
  process.once("worker", (thread) => void thread.terminate());
  const first = check.ask("a", { path, pointer: [] });
  const next = check.ask("a", { path, pointer: [] });
  await expect(first).rejects.toThrow("the thread that checks JSON has ended");
  expect(await next).toMatchObject({ form: "object" });
});

test("gives up a file that is read without end, and answers the next", async () => {
  const check = createJsonCheck({ scanForMs: 1_000 });
  open.push(check);
  const pipe = join(folder, "without-end");
  execFileSync("mkfifo", [pipe]);
  // Whoever reads it waits for as long as somebody may write to it.
  const writer = await openFile(pipe, "r+");
  const next = { path: write("next.json", "{}"), pointer: [] };
  const ask = (): Promise<unknown> => check.ask("a", { path: pipe, pointer: [] });
  try {
    for (let left = 0; left < 3; left += 1) {
      await expect(ask()).rejects.toThrow("the file could not be read in time");
      // Slow machines need longer than the limit to start a thread: that is no answer, either.
      await expect.poll(() => check.ask("b", next).catch(String)).toMatchObject({ form: "object" });
    }
  } finally {
    await writer.close();
  }
  await expect.poll(threads).toBe(1);
});

test("refuses who waits when it is closed, and who asks later", async () => {
  const check = createCheck();
  const question = { path: write("last.json", "{}"), pointer: [] };
  const waiting = Promise.allSettled([
    check.ask("a", question),
    check.ask("a", question),
    check.ask("b", question),
  ]);
  await check.close();
  const closed = { status: "rejected", reason: new Error("the check of JSON is closed") };
  expect(await waiting).toEqual([closed, closed, closed]);
  await expect(check.ask("a", question)).rejects.toThrow("the check of JSON is closed");
});
