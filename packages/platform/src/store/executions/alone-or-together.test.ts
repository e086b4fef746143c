import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { ClaimAnswer, ClaimRequest } from "@platform/engine/store/execution-store";
import type { Owner } from "@platform/engine/store/owner";
import type { Outcome } from "@platform/engine/python/port/runtime";
import { createQuotaScene } from "../../testing/quota-scene.ts";
import type { QuotaScene } from "../../testing/quota-scene.ts";

/*
 * What comes alone is written by statements of its own (CREATE_CLAIMED, FINISH_ONE), whose plans are shorter. They do the same as those
 * for what comes together.
 */

let scene: QuotaScene;

beforeAll(async () => {
  scene = await createQuotaScene();
});
afterAll(() => scene.close());

const IDLE: ClaimRequest = {
  workerId: "idle",
  sandboxLevel: "B",
  limit: 8,
  free: { cpu: 100, memory: 100 },
  leaseSeconds: 60,
  excludedVersionIds: [],
};

/** The claims of a worker that takes whatever is created. */
function hearClaims(): Promise<ClaimAnswer>[] {
  const answers: Promise<ClaimAnswer>[] = [];
  const stop = scene.store.onCreate?.((claim) => {
    const answer = claim(IDLE);
    if (answer !== null) answers.push(answer);
  });
  onTestFinished(() => stop?.());
  return answers;
}

/** Starts and ends so many of one owner at once; what is counted in between and afterwards. */
async function runTogether(owner: Owner, count: number, outcome: Outcome) {
  const answers = hearClaims();
  const records = await Promise.all(Array.from({ length: count }, () => scene.start(owner)));
  const running = await scene.readCounted(owner);
  const claims = (await Promise.all(answers)).flatMap((answer) => answer.claims);
  expect(claims.map(({ id }) => id)).toEqual(records.map(({ id }) => id));
  const ended = await Promise.all(claims.map((claim) => scene.store.finish(claim, outcome)));
  expect(ended).toEqual(claims.map(() => true));
  const statuses = await Promise.all(records.map(({ id }) => scene.store.find(id, owner.id)));
  const results = await Promise.all(records.map(({ id }) => scene.store.readResult(id, owner.id)));
  const [usage] = await scene.database.query({
    text: `select sum(succeeded)::int as succeeded, sum(failed)::int as failed, sum(uncounted)::int as uncounted,
        sum(cpu_micros)::int as cpu from usage_entry where owner_id = $1`,
    values: [owner.id],
  });
  return {
    left: records.map(({ quota }) => quota?.left),
    running,
    statuses: statuses.map((record) => record?.status),
    failures: statuses.map((record) => record?.failure),
    results,
    counted: await scene.readCounted(owner),
    usage,
  };
}

const METADATA = Buffer.from('{"a":1}');
const SUCCEEDED: Outcome = {
  status: "SUCCEEDED",
  result: Buffer.from("{}"),
  metadata: METADATA,
  cpuSeconds: 3,
};
const FAILED: Outcome = {
  status: "FAILED",
  code: "EXECUTION_ERROR",
  detail: "no\0",
  metadata: { a: 1 },
  cpuSeconds: 2,
};
const NOT_STARTED: Outcome = { status: "FAILED", code: "NOT_STARTED", detail: "no" };

const repeat = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

test.each([1, 2])("%i that succeed at once count with what they used", async (count) => {
  const owner = await scene.createLimited({ cap: 10, cpuSeconds: 100, concurrent: 5 });
  expect(await runTogether(owner, count, SUCCEEDED)).toMatchObject({
    left: repeat(count, 10 - count),
    running: { used: count, cpuSeconds: count, unended: count },
    statuses: repeat(count, "SUCCEEDED"),
    results: repeat(count, { result: Buffer.from("{}"), metadata: METADATA }),
    counted: { used: count, cpuSeconds: 3 * count, unended: 0 },
    usage: { succeeded: count, failed: 0, uncounted: 0, cpu: 3e6 * count },
  });
});

test.each([1, 2])("%i that fail at once count with what they used, and store no result", async (count) => {
  const owner = await scene.createLimited({ cpuSeconds: 100 });
  expect(await runTogether(owner, count, FAILED)).toMatchObject({
    left: repeat(count, 100 - count),
    running: { used: count, cpuSeconds: count, unended: count },
    failures: repeat(count, { code: "EXECUTION_ERROR", detail: "no\u{FFFD}", metadata: { a: 1 } }),
    results: repeat(count, null),
    counted: { cpuSeconds: 2 * count, unended: 0 },
    usage: { succeeded: 0, failed: count, uncounted: 0, cpu: 2e6 * count },
  });
});

test.each([1, 2])("%i that the platform failed at once count for nothing", async (count) => {
  const owner = await scene.createLimited({ cap: 10 });
  expect(await runTogether(owner, count, NOT_STARTED)).toMatchObject({
    running: { used: count, unended: 0 },
    counted: { used: 0, cpuSeconds: 0, unended: 0 },
    usage: { succeeded: 0, failed: count, uncounted: count, cpu: 0 },
  });
});

test("a worker that would claim it at once lets nothing through that exceeds a limit", async () => {
  const owner = await scene.createLimited({ cap: 9, concurrent: 2 });
  const answers = hearClaims();
  for (let started = 0; started < 2; started++) await scene.start(owner);
  await expect(scene.start(owner)).rejects.toMatchObject({
    code: "RATE_LIMITED",
    headers: { "x-quota-remaining": "7" },
  });
  const claims = (await Promise.all(answers)).map((answer) => answer.claims.length);
  expect([claims, await scene.readCounted(owner)]).toEqual([
    [1, 1, 0],
    { used: 2, cpuSeconds: 0, unended: 2 },
  ]);
});
