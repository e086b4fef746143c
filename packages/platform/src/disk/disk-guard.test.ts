import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createMemoryStore } from "@platform/engine/memory-store";
import { createRecordingLogger } from "../postgres/testing.ts";
import { watchDisk } from "./disk-guard.ts";
import { guardExecutions } from "./guarded-stores.ts";
import { createReserve } from "./reserve.ts";

const MEGABYTE = 1024 * 1024;
/** No disk has so much. */
const UNREACHABLE = 2 ** 60;

const EXECUTION = {
  id: "01890000-0000-7000-8000-000000000001",
  ownerId: "01890000-0000-7000-8000-000000000002",
  versionId: "01890000-0000-7000-8000-000000000003",
  resources: { cpu: 1, memory: 1 },
  timeoutSeconds: 60,
  body: Buffer.from("{}"),
  references: {},
};
const CLAIM = {
  workerId: "worker",
  limit: 1,
  free: { cpu: 1, memory: 1 },
  leaseSeconds: 60,
  excludedVersionIds: [],
};

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "disk-guard-"));
});
afterEach(() => rm(directory, { recursive: true }));

describe("a disk below the floor", () => {
  test("still takes starts, gives out no work, says why, and goes on when it has space", async () => {
    const logger = createRecordingLogger();
    const watch = (floorBytes: number) => watchDisk({ directory, floorBytes, reserve: null, logger });
    const low = await watch(UNREACHABLE);
    const store = createMemoryStore();
    const guarded = guardExecutions(store, low);
    await guarded.create(EXECUTION);
    expect((await guarded.claim(CLAIM)).claims).toEqual([]);
    expect(low.describe()).toContain("low on space");
    expect(logger.entries.map(({ level }) => level)).toEqual(["warn"]);
    await low.close();

    const roomy = await watch(0);
    expect(roomy.describe()).toBeNull();
    expect((await guardExecutions(store, roomy).claim(CLAIM)).claims).toHaveLength(1);
    await roomy.close();
  });
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
    await full.close();
  });
});
