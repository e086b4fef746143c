import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { createTestClient, createTestService, createTestUser } from "../testing/fixtures.ts";
import { createWebhookScene } from "../testing/webhook-scene.ts";

let scene: Awaited<ReturnType<typeof createWebhookScene>>;
/** A webhook of starts. */
let webhookId: string;

beforeAll(async () => {
  scene = await createWebhookScene();
});
afterAll(() => scene?.close());
beforeEach(async () => {
  scene.received.length = 0;
  scene.answers.clear();
  scene.answers.set("/hangs", () => undefined);
  const user = await createTestUser(scene.instance);
  const { organisationId, userId } = user;
  const { applicationId } = await createTestClient(
    scene.instance,
    user,
    await createTestService(scene.instance, user),
  );
  const made = await scene.sealed.create({ organisationId, applicationId }, { createdBy: userId });
  webhookId = made?.webhook.id ?? "";
});
afterEach(async () => {
  await scene.run("delete from webhook");
  await scene.run("delete from webhook_delivery");
});

interface Messages {
  /** Of the origin. */
  readonly lane: string;
  readonly path?: string;
  readonly count?: number;
  /** When they are due, from now on. */
  readonly seconds: number;
}

const add = async ({ lane, path = "/hangs", count = 1, seconds }: Messages) =>
  await scene.run(
    `insert into webhook_delivery (id, webhook_id, event, body, url, lane, next_at)
      select gen_random_uuid(), $1, 'x', '{}', $2, $3, now() + make_interval(secs => $4) from generate_series(1, $5::int)`,
    webhookId,
    `http://127.0.0.1:${scene.port}${path}`,
    lane,
    seconds,
    count,
  );

const claim = () => scene.instance.stores.deliveries.claim("one", 256, 60);

test("however many origins of an application hang, it has eight calls", async () => {
  for (let origin = 0; origin < 10; origin++) await add({ lane: `lane ${origin}`, count: 5, seconds: -60 });
  const [first, second] = [await claim(), await claim()];
  expect([first.length, second.length]).toEqual([8, 0]);
});

test("the first message of each origin goes before the second of any", async () => {
  for (let origin = 0; origin < 4; origin++) await add({ lane: `lane ${origin}`, count: 5, seconds: -60 });
  await add({ lane: "lane 9", path: "/prompt", seconds: -1 });
  scene.start();
  await expect.poll(() => scene.at("/prompt").length).toBe(1);
  await expect.poll(() => scene.at("/hangs").length).toBe(8);
});

test("an origin is found behind one that hangs with many messages, and behind many that have none due", async () => {
  await add({ lane: "f", count: 100, seconds: -60 });
  // They are tried again in an hour.
  for (let origin = 0; origin < 100; origin++)
    await add({ lane: origin.toString(16).padStart(2, "0"), seconds: 3_600 });
  await add({ lane: "e", path: "/prompt", seconds: -1 });
  let isFound = false;
  // A claim looks at 64 lanes from one on that is by chance: six in ten see it.
  for (let tries = 0; tries < 100 && !isFound; tries++) {
    const claims = await claim();
    isFound = claims.some(({ url }) => url.endsWith("/prompt"));
  }
  expect(isFound).toBe(true);
});
