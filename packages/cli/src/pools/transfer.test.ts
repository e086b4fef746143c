import { expect, test } from "vitest";
import { RequestRefused } from "@platform/contract/client";
import { formatBytes } from "./format-bytes.ts";
import { toSafeName } from "./safe-name.ts";
import { createBar, persist } from "./transfer.ts";

test("the bar says how much of all is there, and how much came in a second since it began", () => {
  const shown: string[] = [];
  let now = 0;
  const show = createBar({ detail: (text) => shown.push(text) }, () => now);
  const GIGABYTE = 1024 ** 3;
  show(GIGABYTE, 4 * GIGABYTE);
  now = 2_000;
  show(3 * GIGABYTE, 4 * GIGABYTE);
  show(4 * GIGABYTE, 4 * GIGABYTE);
  expect(shown).toEqual([
    `[${"=".repeat(6)}${" ".repeat(18)}] 25 % of 4.0 GB`,
    `[${"=".repeat(18)}${" ".repeat(6)}] 75 % of 4.0 GB, 1.0 GB/s`,
    `[${"=".repeat(24)}] 100 % of 4.0 GB, 1.5 GB/s`,
  ]);
});

test("sizes are short", () => {
  expect([0, 1_023, 1_024, 200_000, 5 * 1024 ** 3].map(formatBytes)).toEqual([
    "0 B",
    "1023 B",
    "1.0 KB",
    "195 KB",
    "5.0 GB",
  ]);
});

test.each([
  ["map.json", "map.json"],
  ['a:b?c*<d>|e"f.json', "a_b_c__d__e_f.json"],
  ["con", "_con"],
  ["LPT1.txt", "_LPT1.txt"],
  ["end. ", "end_"],
  ["..", "_"],
  ["über.json", "über.json"],
])("the name %j is %j on this machine", (name, safe) => {
  expect(toSafeName(name)).toBe(safe);
});

const refuse = (status: number, code: string) => new RequestRefused(status, { code, detail: "no" });

test("what passes is tried again; what does not pass is said at once", async () => {
  const { signal } = new AbortController();
  const failures = [refuse(503, "UNAVAILABLE"), refuse(423, "UPLOAD_LOCKED"), new TypeError("fetch failed")];
  const done = await persist(
    async () => {
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
      return "done";
    },
    () => 0,
    signal,
  );
  expect([done, failures]).toEqual(["done", []]);
  for (const final of [
    refuse(429, "QUOTA_EXCEEDED"),
    refuse(403, "FORBIDDEN"),
    refuse(400, "CHECKSUM_MISMATCH"),
  ]) {
    let tries = 0;
    const step = async () => {
      tries += 1;
      throw final;
    };
    await expect(persist(step, () => 0, signal)).rejects.toThrow(final);
    expect(tries).toBe(1);
  }
});
