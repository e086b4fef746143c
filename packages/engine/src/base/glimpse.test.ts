import { expect, test } from "vitest";
import { createGlimpse } from "./glimpse.ts";

/** What is read takes as long as the test says. */
function open() {
  const clock = { now: 0 };
  const reads: ((value: string | Error) => Promise<void>)[] = [];
  const read = () =>
    new Promise<string>((resolve, reject) => {
      reads.push(async (value) => {
        if (value instanceof Error) reject(value);
        else resolve(value);
        await new Promise(setImmediate);
      });
    });
  return {
    clock,
    reads,
    look: createGlimpse(read, { everyMs: 100, believedMs: 1_000, now: () => clock.now }),
  };
}

test("who asks waits for nothing: the value is there at a later look", async () => {
  const { reads, look } = open();
  expect([look(), look()]).toEqual([null, null]);
  expect(reads).toHaveLength(1);
  await reads[0]?.("first");
  expect(look()).toBe("first");
});

test("it is read again when it is due, once at a time, and not believed when it is too old", async () => {
  const { clock, reads, look } = open();
  look();
  await reads[0]?.("first");
  clock.now = 99;
  look();
  expect(reads).toHaveLength(1);
  clock.now = 100;
  expect([look(), look()]).toEqual(["first", "first"]);
  expect(reads).toHaveLength(2);
  clock.now = 1_000;
  expect(look()).toBe("first");
  clock.now = 1_001;
  expect(look()).toBeNull();
  expect(reads).toHaveLength(2);
});

test("what takes long is read more rarely: it takes a twentieth of the time", async () => {
  const { clock, reads, look } = open();
  look();
  clock.now = 200;
  await reads[0]?.("slow");
  clock.now = 3_999;
  look();
  expect(reads).toHaveLength(1);
  clock.now = 4_000;
  look();
  expect(reads).toHaveLength(2);
});

test("a read that fails leaves the last value, and is repeated when it is due", async () => {
  const { clock, reads, look } = open();
  look();
  await reads[0]?.("first");
  clock.now = 100;
  look();
  await reads[1]?.(new Error("away"));
  expect(look()).toBe("first");
  clock.now = 200;
  look();
  expect(reads).toHaveLength(3);
});
