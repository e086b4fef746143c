import { spawn } from "node:child_process";
import { once } from "node:events";
import { execPath } from "node:process";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Owner } from "@platform/engine/store/owner";
import { waitUntil } from "@platform/engine/testing/wait-until";
import { MAINTENANCE } from "../../postgres/limits.ts";
import { createQuotaScene } from "../../testing/quota-scene.ts";
import type { QuotaScene } from "../../testing/quota-scene.ts";
import { checkUsage } from "../usage/check.ts";

const MEMBER = new URL("../../testing/quota-member.ts", import.meta.url).pathname;
const CAP = 1_000;

let scene: QuotaScene;

beforeAll(async () => {
  scene = await createQuotaScene();
});
afterAll(() => scene.close());

const count = async (condition: string, ...values: readonly unknown[]) =>
  (await scene.home.database.query({ text: `select 1 from ${condition}`, values })).length;

/** Statements of other sessions that are under way. */
const countActive = (condition = "true") =>
  count(`pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and state = 'active'
    and query ~ 'execution' and ${condition}`);

/** Kills a process that starts executions of these, and ends all, when a statement of it waits to change what the owner's counts are. */
async function killWhileItWaits(owner: Owner, started: readonly Owner[]): Promise<void> {
  // For as long as a process takes to start.
  const client = await scene.home.connect({ limits: MAINTENANCE }).pool.connect();
  try {
    await client.query("begin");
    await client.query("select 1 from quota where subscription_id = $1 for update", [owner.id]);
    const target = JSON.stringify(scene.home.target);
    const member = spawn(execPath, [MEMBER, target, ...started.map(({ id }) => id)], { stdio: "ignore" });
    const ended = once(member, "exit");
    await waitUntil(async () => (await countActive("wait_event_type = 'Lock'")) > 0);
    member.kill("SIGKILL");
    await ended;
    await client.query("commit");
  } finally {
    client.release();
  }
  // The server goes on with what the dead have begun.
  await waitUntil(async () => (await countActive()) === 0);
}

const readUsed = async (owner: Owner) => (await scene.readCounted(owner))?.used ?? 0;

test("what a gateway started that was killed before it was answered is counted as often as it is there", async () => {
  const owner = await scene.createLimited({ cap: CAP });
  await killWhileItWaits(owner, [owner]);
  const there = await count("execution where owner_id = $1", owner.id);
  expect(there).toBeGreaterThan(0);
  expect(await readUsed(owner)).toBe(there);
  expect((await scene.start(owner)).quota).toMatchObject({ left: CAP - there - 1 });
});

test("the end of what a killed worker had run is counted once, by it or by whoever finds its lease over", async () => {
  const owner = await scene.createLimited({ cap: CAP, concurrent: CAP });
  await scene.start(owner);
  await scene.claim((await scene.start(owner)).id);
  // The member claims the first one, and ends it.
  await killWhileItWaits(owner, []);
  await expect
    .poll(async () => {
      await scene.store.sweep();
      return await count("execution where owner_id = $1 and ended_at is not null", owner.id);
    })
    .toBe(1);
  for (let tries = 0; tries < 3; tries++) await scene.store.sweep();
  const blamed = "failure_code in ('NOT_STARTED', 'WORKER_LOST')";
  const used = await count(`execution where owner_id = $1 and ${blamed} is not true`, owner.id);
  expect(await scene.readCounted(owner)).toMatchObject({ used, unended: 1 });
  const { lines, differences } = await checkUsage(scene.home.database);
  expect([lines > 0, differences]).toEqual([true, []]);
});
