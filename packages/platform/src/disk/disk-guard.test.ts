import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createMemoryStore } from "@platform/engine/store/memory-store";
import { createRecordingLogger } from "../testing/test-database.ts";
import { watchDisk } from "./disk-guard.ts";
import { guardExecutions } from "./guarded-stores.ts";
import { createOwner } from "@platform/engine/testing/execution-fixtures";
import { MEGABYTE } from "@platform/engine/base/bytes";
import { createReserve } from "./reserve.ts";

/** No disk has so much. */
const UNREACHABLE = 2 ** 60;

const EXECUTION = {
  id: "01890000-0000-7000-8000-000000000001",
  owner: createOwner(),
  versionId: "01890000-0000-7000-8000-000000000003",
  resources: { cpu: 1, memory: 1 },
  timeoutSeconds: 60,
  body: Buffer.from("{}"),
  references: {},
};

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "disk-guard-"));
});
afterEach(() => rm(directory, { recursive: true }));

describe("a disk below the floor", () => {
  test("still takes starts, says why, and is sound when it has space", async () => {
    const logger = createRecordingLogger();
    const watch = (floorBytes: number) => watchDisk({ directory, floorBytes, reserve: null, logger });
    const low = await watch(UNREACHABLE);
    expect((await guardExecutions(createMemoryStore(), low).create(EXECUTION)).status).toBe("PENDING");
    expect(low.isLow()).toBe(true);
    expect(low.describe()).toContain("low on space");
    expect(logger.entries.map(({ level }) => level)).toEqual(["warn"]);
    await low.close();

    const roomy = await watch(0);
    expect(roomy.describe()).toBeNull();
    expect(roomy.isLow()).toBe(false);
    await roomy.close();
  });
});

test("what is only convenient is asked for its room while the disk has less than the floor", async () => {
  const logger = createRecordingLogger();
  const watch = (floorBytes: number) =>
    watchDisk({ directory, floorBytes, reserve: null, logger, pollMs: 10 });
  const guard = await watch(UNREACHABLE);
  const wanted: number[] = [];
  guard.addRoom(async (bytes) => void wanted.push(bytes));
  await expect.poll(() => wanted.length).toBeGreaterThan(0);
  expect(wanted[0]).toBeGreaterThan(0);
  await guard.close();
});

describe("the reserve", () => {
  test("takes real blocks, also when it was cut short, and gives them back", async () => {
    const reserve = createReserve(directory, 16 * MEGABYTE);
    expect(reserve.bytes).toBe(2 * MEGABYTE);
    expect(await reserve.exists()).toBe(false);
    await writeFile(join(directory, "reserve"), "begun");
    expect(await reserve.exists()).toBe(false);
    expect(await reserve.take()).toBe(true);
    expect(await reserve.exists()).toBe(true);
    expect((await readFile(join(directory, "reserve"))).includes(Buffer.alloc(4096))).toBe(false);
    await reserve.release();
    await reserve.release();
    await expect(stat(join(directory, "reserve"))).rejects.toThrow("ENOENT");
  });

  test("of a large disk is bounded", () => {
    expect(createReserve(directory, UNREACHABLE).bytes).toBe(128 * MEGABYTE);
  });

  test("is taken by the guard, and starts are refused while there is no room for it", async () => {
    const logger = createRecordingLogger();
    const reserve = createReserve(directory, 16 * MEGABYTE);
    const guard = await watchDisk({ directory, floorBytes: 0, reserve, logger });
    expect([guard.isFull(), await reserve.exists()]).toEqual([false, true]);
    await guard.close();
    await reserve.release();
    const tooLarge = { ...reserve, bytes: UNREACHABLE };
    const full = await watchDisk({ directory, floorBytes: 0, reserve: tooLarge, logger });
    const guarded = guardExecutions(createMemoryStore(), full);
    await expect(guarded.create(EXECUTION)).rejects.toMatchObject({
      code: "UNAVAILABLE",
      headers: { "retry-after": "30" },
    });
    await expect(guarded.foresee(EXECUTION)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await full.close();
  });
});
