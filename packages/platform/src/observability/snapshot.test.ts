import { createDeferred } from "@platform/engine/base/deferred";
import { SECOND } from "@platform/engine/base/time";
import { expect, test } from "vitest";
import { createRecordingLogger } from "../testing/test-database.ts";
import { createSnapshotKeeper } from "./snapshot.ts";
import type { SnapshotSources } from "./snapshot.ts";

function create(queue: SnapshotSources["queue"], versions: () => readonly string[] = () => []) {
  let now = 0;
  const asked: string[][] = [];
  const logger = createRecordingLogger();
  const keeper = createSnapshotKeeper({
    sources: {
      queue,
      builds: async () => [],
      faults: async () => [],
      disk: async () => ({ free: 1, total: 2 }),
      nameVersions: async (ids) => {
        asked.push([...ids]);
        return new Map(ids.map((id) => [id, { organization: "acme", service: id, version: "1.0.0" }]));
      },
    },
    listVersions: versions,
    logger,
    now: () => now,
  });
  return { keeper, logger, asked, pass: (milliseconds: number) => (now += milliseconds) };
}

test("however many scrape, the database is asked once in five seconds", async () => {
  let asked = 0;
  const { keeper, pass } = create(async () => ({ parts: [], workers: (asked += 1) }));
  await Promise.all(Array.from({ length: 100 }, () => keeper.refresh()));
  pass(4 * SECOND);
  await keeper.refresh();
  expect(asked).toBe(1);
  pass(2 * SECOND);
  await keeper.refresh();
  expect(keeper.read()?.snapshot.queue.workers).toBe(2);
});

test("a slow count takes a twentieth of the time at most", async () => {
  let asked = 0;
  const { keeper, pass } = create(async () => {
    asked += 1;
    pass(2 * SECOND);
    return { parts: [], workers: 0 };
  });
  await keeper.refresh();
  pass(37 * SECOND);
  await keeper.refresh();
  expect(asked).toBe(1);
  pass(2 * SECOND);
  await keeper.refresh();
  expect(asked).toBe(2);
});

test("a database that does not answer holds up no scrape, and what was read before stays", async () => {
  const answer = createDeferred<{ readonly parts: []; readonly workers: number }>();
  let count = 0;
  const { keeper, pass } = create(() =>
    (count += 1) === 1 ? Promise.resolve({ parts: [], workers: 7 }) : answer.promise,
  );
  await keeper.refresh();
  pass(6 * SECOND);
  await keeper.refresh();
  await keeper.refresh();
  expect(count).toBe(2);
  expect(keeper.read()).toMatchObject({ at: 0, snapshot: { queue: { workers: 7 } } });
  answer.resolve({ parts: [], workers: 8 });
  await expect.poll(() => keeper.read()?.snapshot.queue.workers).toBe(8);
});

test("a database that fails is asked again five seconds later, and the log says why", async () => {
  let count = 0;
  const { keeper, logger, pass } = create(() =>
    (count += 1) === 1 ? Promise.reject(new Error("gone")) : Promise.resolve({ parts: [], workers: 1 }),
  );
  await keeper.refresh();
  await keeper.refresh();
  expect([count, keeper.read()]).toEqual([1, null]);
  expect(logger.entries).toHaveLength(1);
  pass(6 * SECOND);
  await keeper.refresh();
  expect(keeper.read()?.snapshot.queue.workers).toBe(1);
});

test("names are asked for once, and forgotten with their versions", async () => {
  let versions = ["a", "b"];
  const { keeper, asked, pass } = create(
    async () => ({ parts: [], workers: 0 }),
    () => versions,
  );
  await keeper.refresh();
  versions = ["b", "c"];
  pass(6 * SECOND);
  await keeper.refresh();
  expect(asked).toEqual([["a", "b"], ["c"]]);
  expect([...keeper.names.keys()]).toEqual(["b", "c"]);
});
