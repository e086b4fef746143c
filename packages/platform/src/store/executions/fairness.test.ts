import { randomUUID } from "node:crypto";
import type { Claim } from "@platform/engine/store/execution-store";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createOwner } from "@platform/engine/testing/execution-fixtures";
import { createUuidV7 } from "@platform/engine/base/uuid";
import { createTestStore } from "../../testing/test-store.ts";
import type { TestStore } from "../../testing/test-store.ts";

const BACKLOG = 10_000;
const SLOTS = 4;

let close: TestStore["close"];
let store: TestStore["store"];

beforeAll(async () => {
  ({ close, store } = await createTestStore());
});

afterAll(() => close());

async function start(ownerId: string): Promise<void> {
  await store.create({
    id: createUuidV7(),
    owner: createOwner(ownerId),
    versionId: randomUUID(),
    resources: { cpu: 1, memory: 1 },
    timeoutSeconds: 60,
    body: Buffer.from("{}"),
    references: {},
  });
}

/** A worker with four slots: one run ends, the next begins. */
function createWorker() {
  const running: Claim[] = [];
  return async (): Promise<readonly string[]> => {
    const ended = running.splice(0, running.length < SLOTS ? 0 : 1);
    for (const claim of ended)
      await store.finish(claim, { status: "SUCCEEDED", result: Buffer.from("{}"), metadata: null });
    const { claims } = await store.claim({
      workerId: "worker",
      sandboxLevel: "B" as const,
      limit: 32,
      free: { cpu: SLOTS - running.length, memory: 100 },
      leaseSeconds: 60,
      excludedVersionIds: [],
    });
    running.push(...claims);
    return claims.map(({ owner }) => owner.id);
  };
}

test("10,000 queued starts of one subscription delay another's first by less than two of its runs", async () => {
  const [greedy, modest] = [randomUUID(), randomUUID()];
  await Promise.all(Array.from({ length: BACKLOG }, () => start(greedy)));
  const work = createWorker();
  for (let turn = 0; turn < 50; turn++) await work();
  for (let index = 0; index < 10; index++) await start(modest);
  const begun: string[] = [];
  while (begun.length < 20) begun.push(...(await work()));
  expect(begun.indexOf(modest)).toBeGreaterThanOrEqual(0);
  expect(begun.indexOf(modest)).toBeLessThan(2);
  expect(begun.filter((ownerId) => ownerId === modest)).toHaveLength(10);
});
