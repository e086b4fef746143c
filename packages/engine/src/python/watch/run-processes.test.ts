import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { waitFor } from "../../testing/python-fixture.ts";
import { createFamily, describeChild } from "./family.ts";
import type { Leader } from "./family.ts";
import { parseRollup, readStat } from "./process-files.ts";
import { isOfRun, listProcesses, measureFiles, signalProcesses, sumMemory } from "./run-processes.ts";

const MEGABYTE = 1 << 20;
let child: ChildProcess;

beforeEach(async () => {
  child = spawn("/bin/sh", ["-c", "sleep 60 & echo begun; wait"], { stdio: ["ignore", "pipe", "ignore"] });
  if (child.stdout !== null) await once(child.stdout, "data");
});
afterEach(async () => {
  const ended = once(child, "close");
  const found = findLeader(child.pid ?? 0);
  if (found !== null) signalProcesses(await listProcesses(found, []), "SIGKILL");
  await ended;
});

/** The process of this number as a child of this one. */
function findLeader(number: number): Leader | null {
  const family = createFamily();
  family.open(process.pid, process.pid);
  const found = family.find(number);
  return found === null ? null : describeChild(found);
}

function readState(pid: number): string | undefined {
  return /^State:\s(\w)/mu.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
}

test("a signal goes to the process that was found, and to no other that was given its number", async () => {
  const pid = child.pid ?? 0;
  const found = readStat(pid);
  if (found === null) throw new Error("the process has ended");
  signalProcesses([{ ...found, start: `${found.start}0` }], "SIGKILL");
  signalProcesses([found], "SIGSTOP");
  // Signals are delivered one after the other: a kill would have come first.
  await waitFor("it is stopped", () => readState(pid) === "T");
  expect(child.exitCode ?? child.signalCode).toBeNull();
  signalProcesses([found], "SIGCONT");
});

test("all that a run has started is found below it", async () => {
  const leader = findLeader(child.pid ?? 0);
  if (leader === null) throw new Error("the process has ended");
  const processes = await listProcesses(leader, []);
  expect(processes).toHaveLength(2);
  expect(processes[0]?.pid).toBe(child.pid);
});

test("a number that was listed, and was given to a process of the host meanwhile, is none of the run", () => {
  const leader = findLeader(child.pid ?? 0);
  const [stranger, leading] = [readStat(process.ppid), readStat(child.pid ?? 0)];
  if (leader === null || stranger === null || leading === null) throw new Error("a process has ended");
  const known = { starts: new Map([[leading.pid, leading.start]]), found: new Map([[leading.pid, leading]]) };
  expect(isOfRun(stranger, leader, known)).toBe(false);
  expect(isOfRun(leading, leader, known)).toBe(true);
  expect(isOfRun({ ...leading, start: "1" }, leader, known)).toBe(false);
  expect(isOfRun({ ...stranger, parent: leading.pid }, leader, known)).toBe(true);
});

test("a run with very many descriptors keeps nobody waiting, and has an end", async () => {
  const leader = findLeader(child.pid ?? 0);
  const stat = readStat(child.pid ?? 0);
  if (leader === null || stat === null) throw new Error("the process has ended");
  let turns = 0;
  const count = (): void => {
    turns += 1;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  await measureFiles(
    leader,
    Array.from({ length: 100_000 }, () => stat),
  );
  clearImmediate(next);
  expect(turns).toBeGreaterThan(30);
  expect(turns).toBeLessThan(200);
});

test("what a process has of the zygote's memory does not count as its own, but no more than there is of that", () => {
  const zygote = { anonymous: 30 * MEGABYTE, shared: 0, own: 10 * MEGABYTE, mapped: 70 * MEGABYTE };
  const forked = { anonymous: 25 * MEGABYTE, shared: 0, own: 5 * MEGABYTE, mapped: 65 * MEGABYTE };
  expect(sumMemory(zygote, [forked], 0)).toBe(5 * MEGABYTE);
  expect(sumMemory(null, [forked], 0)).toBe(25 * MEGABYTE);
  const executed = Array.from({ length: 20 }, () => forked);
  expect(sumMemory(zygote, executed, 0)).toBe((20 * 25 - 40) * MEGABYTE);
});

test("mapped files of a tmpfs count once, those that are not mapped as well", () => {
  const mapping = { anonymous: 0, shared: 8, own: 0, mapped: 0 };
  expect(sumMemory(null, [mapping, mapping], 16)).toBe(16);
  expect(sumMemory(null, [mapping, mapping], 90)).toBe(90);
  expect(sumMemory(null, [mapping, mapping], 0)).toBe(16);
});

test("the kernel's summary of a process's memory is read", () => {
  const text =
    "Rss: 9 kB\nPss_Anon: 3 kB\nPss_Shmem:  2 kB\nPrivate_Dirty: 1 kB\nAnonymous: 4 kB\nSwapPss: 5 kB\n";
  expect(parseRollup(text)).toEqual({ anonymous: 8192, shared: 2048, own: 1024, mapped: 4096 });
});
