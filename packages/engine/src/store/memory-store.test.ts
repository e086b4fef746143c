import { afterEach, expect, test, vi } from "vitest";
import { createUuidV7 } from "../base/uuid.ts";
import { createMemoryStore } from "./memory-store.ts";
import { createOwner } from "../testing/execution-fixtures.ts";
import type { LimitsUnderTest } from "../testing/limited-queue.ts";
import { describeExecutionStore } from "../testing/store-conformance.ts";

afterEach(() => vi.restoreAllMocks());

describeExecutionStore("memory", async () => {
  const store = createMemoryStore();
  const setLimits: LimitsUnderTest["setLimits"] = async (key, limits) => store.setLimits(key, limits ?? {});
  return {
    store,
    limits: {
      setLimits,
      createService: async (limits) => {
        const key = createUuidV7();
        await setLimits(key, limits);
        return key;
      },
    },
    close: async () => undefined,
  };
});

test("a host's clock that is set ends no lease and makes no worker fall silent", async () => {
  const store = createMemoryStore();
  const id = createUuidV7();
  const resources = { cpu: 1, memory: 1 };
  const worker = { workerId: "worker", sandboxLevel: "B" as const, excludedVersionIds: [] };
  await store.create({
    id,
    owner: createOwner("owner"),
    versionId: "version",
    resources,
    timeoutSeconds: 60,
    body: Buffer.from("{}"),
    references: {},
  });
  await store.claim({ ...worker, limit: 1, free: resources, leaseSeconds: 30 });
  await store.report({
    ...worker,
    capacity: resources,
    free: resources,
    reservedId: null,
    reservesAfterSeconds: null,
  });
  const now = Date.now.bind(Date);
  vi.spyOn(Date, "now").mockImplementation(() => now() + 3_600_000);
  expect(await store.sweep()).toBe(0);
  expect(await store.listWorkers()).toEqual([resources]);
});
