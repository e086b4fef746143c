import { execFile, spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { INTERPRETER } from "../../testing/python-fixture.ts";
import { createFamily, describeChild } from "./family.ts";
import { readStat } from "./process-files.ts";

let children: ChildProcess[];

beforeEach(async () => {
  children = [1, 2, 3].map(() => spawn("/bin/sleep", ["60"], { stdio: "ignore" }));
  await Promise.all(children.map((child) => once(child, "spawn")));
});
afterEach(async () => {
  for (const child of children) {
    const ended = once(child, "close");
    child.kill("SIGKILL");
    await ended;
  }
});

test("each child is found by the number that it has for the zygote, as often as it is asked for", () => {
  const family = createFamily();
  family.open(process.pid, process.pid);
  for (const { pid = 0 } of [...children, ...children]) {
    const found = family.find(pid);
    expect(found).toMatchObject({ pid, parent: process.pid });
    expect(found && describeChild(found)).toMatchObject({ zygote: process.pid, isApart: false });
  }
});

test("a child is found that was forked after the last look, and none that has ended since", async () => {
  const family = createFamily();
  family.open(process.pid, process.pid);
  const [first] = children;
  expect(family.find(first?.pid ?? 0)).toMatchObject({ pid: first?.pid });
  const later = spawn("/bin/sleep", ["60"], { stdio: "ignore" });
  await once(later, "spawn");
  expect(family.find(later.pid ?? 0)).toMatchObject({ pid: later.pid });
  const ended = once(later, "close");
  later.kill("SIGKILL");
  await ended;
  expect(family.find(later.pid ?? 0)).toBeNull();
});

test("a number that is not that of a child of the zygote names nobody, whatever the zygote says", () => {
  const family = createFamily();
  const [zygote] = children;
  expect(family.find(process.pid)).toBeNull();
  family.open(zygote?.pid ?? 0, zygote?.pid ?? 0);
  family.open(process.pid, process.pid);
  for (const number of [1, process.pid, zygote?.pid ?? 0, children[1]?.pid ?? 0])
    expect(family.find(number)).toBeNull();
});

test("a zygote is a process below the one that was started", () => {
  const family = createFamily();
  const [launched, other] = children;
  family.open(launched?.pid ?? 0, other?.pid ?? 0);
  family.open(launched?.pid ?? 0, process.pid);
  expect(family.find(other?.pid ?? 0)).toBeNull();
  family.open(process.pid, process.pid);
  expect(family.find(other?.pid ?? 0)).not.toBeNull();
});

test("a process that got the number of a child after the children were listed is not taken for it", () => {
  const family = createFamily((pid) => readStat(pid === children[0]?.pid ? process.pid : pid));
  family.open(process.pid, process.pid);
  expect(family.find(children[0]?.pid ?? 0)).toBeNull();
  expect(family.find(children[1]?.pid ?? 0)).not.toBeNull();
});

const UNSHARE = ["--pid", "--fork", "--mount-proc"];
const canUnshare = spawnSync("unshare", [...UNSHARE, "true"]).status === 0;

test.runIf(canUnshare)(
  "a child is found whose number on the machine was that of another one, which has ended",
  async () => {
    const program = fileURLToPath(new URL("../../testing/reuse-number.ts", import.meta.url));
    const { stdout } = await promisify(execFile)("unshare", [
      ...UNSHARE,
      process.execPath,
      program,
      INTERPRETER,
    ]);
    const { first, second, pid, children, found } = JSON.parse(stdout) as Readonly<Record<string, unknown>>;
    expect(second).not.toBe(first);
    expect(children).toEqual([pid]);
    expect(found).toBe(pid);
  },
);
