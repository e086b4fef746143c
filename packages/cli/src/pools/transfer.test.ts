import { expect, test } from "vitest";
import { RequestRefused } from "@platform/contract/client";
import { formatBytes } from "./format-bytes.ts";
import { toSafeName } from "./safe-name.ts";
import { createBar, persist, readRefusal } from "./transfer.ts";

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

test.each([
  ["brings nothing", () => Promise.resolve(null), "NO_PROGRESS"],
  ["fails for a time", () => Promise.reject<null>(refuse(503, "UNAVAILABLE")), "no"],
] as const)(
  "a step that %s is repeated after growing pauses, and for a minute only",
  async (_, step, error) => {
    const { signal } = new AbortController();
    const pauses: number[] = [];
    let now = 0;
    const pause = async (milliseconds: number) => {
      pauses.push(milliseconds);
      now += milliseconds;
    };
    let tried = 0;
    const tryOnce = (): Promise<null> => {
      tried += 1;
      if (tried > 100) throw new Error("has no end");
      return step();
    };
    const tries = persist(tryOnce, () => 0, signal, { now: () => now, pause });
    await expect(tries).rejects.toMatchObject(error === "no" ? { message: "no" } : { code: error });
    expect([pauses.every((each) => each > 100), Math.max(...pauses) > 1_000]).toEqual([true, true]);
    expect(now).toBeGreaterThan(60_000);
  },
);

test("steps that move on take as long as they need, without a pause; going back and forth is no way on", async () => {
  const { signal } = new AbortController();
  let [now, steps, paused] = [0, 0, 0];
  const clock = {
    now: () => now,
    pause: async (milliseconds: number) => {
      now += milliseconds;
      paused += 1;
    },
  };
  const moving = async () => {
    now += 50_000;
    steps += 1;
    return steps === 10 ? "done" : null;
  };
  expect([await persist(moving, () => steps, signal, clock), paused]).toEqual(["done", 0]);
  let turns = 0;
  const turning = async () => {
    turns += 1;
    if (turns > 1_000) throw new Error("has no end");
    return null;
  };
  const turned = persist(turning, () => turns % 2, signal, clock);
  await expect(turned).rejects.toMatchObject({ code: "NO_PROGRESS" });
});

test("of a refusal no more is received than a problem takes", async () => {
  let pulled = 0;
  let isCancelled = false;
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      pulled += 1;
      if (pulled > 1_000) controller.close();
      else controller.enqueue(new Uint8Array(16 * 1024).fill(32));
    },
    cancel: () => void (isCancelled = true),
  });
  expect(await readRefusal(new Response(endless, { status: 500 }))).toMatchObject({
    status: 500,
    problem: { code: "REQUEST_FAILED" },
  });
  expect([isCancelled, pulled < 10]).toEqual([true, true]);
  const short = Response.json({ code: "QUOTA_EXCEEDED", detail: "Full." }, { status: 429 });
  expect(await readRefusal(short)).toMatchObject({ problem: { code: "QUOTA_EXCEEDED", detail: "Full." } });
});
