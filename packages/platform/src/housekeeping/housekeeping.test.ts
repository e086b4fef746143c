import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openDataDirectory } from "../host/data-directory.ts";
import { createLocalObjects } from "../objects/local-objects.ts";
import type { ObjectStore } from "../objects/object-store.ts";
import { createObjectRows } from "../store/objects/object-rows.ts";
import { createRecordingLogger, createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";
import { startHousekeeping } from "./housekeeping.ts";

const HASH = "a".repeat(64);

let home: TestDatabase;
let root: string;
beforeAll(async () => {
  home = await createTestDatabase();
  root = await mkdtemp(join(tmpdir(), "housekeeping-"));
});
afterAll(async () => {
  await home?.close();
  await rm(root, { recursive: true });
});

test("does not wait, when it stops, for a store that does not answer, and warns of nothing", async () => {
  const logger = createRecordingLogger();
  const data = await openDataDirectory(root, logger);
  const rows = createObjectRows(home.database, 30);
  await rows.note({ hash: HASH, bytes: 1 });
  await home.database.query({ text: "update object set kept_at = now() - interval '2 days'" });
  const asked = new Set<string>();
  const hang = (name: string) => async () => {
    asked.add(name);
    return await new Promise<never>(() => undefined);
  };
  const store: ObjectStore = {
    ...createLocalObjects(data.objects),
    remove: hang("remove"),
    list: () => ({ [Symbol.asyncIterator]: () => ({ next: hang("list") }) }),
  };
  const stop = startHousekeeping({
    database: home.database,
    data,
    store,
    retentionDays: 30,
    logRetentionDays: 7,
    logger,
  });
  await expect.poll(() => [...asked].toSorted()).toEqual(["list", "remove"]);
  await stop();
  expect(logger.entries.filter(({ level }) => ["warn", "error"].includes(level))).toEqual([]);
});
