import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createFamily, describeChild } from "./family.ts";

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
