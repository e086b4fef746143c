import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { createTestClient, createTestService, createTestUser } from "../testing/fixtures.ts";
import type { TestService, TestUser } from "../testing/fixtures.ts";
import { createWebhookScene } from "../testing/webhook-scene.ts";

let scene: Awaited<ReturnType<typeof createWebhookScene>>;
let hostile: TestUser;
let other: TestUser;
/** Of the organisation of each user. */
let services: Map<TestUser, TestService>;

beforeAll(async () => {
  scene = await createWebhookScene();
});
afterAll(() => scene?.close());
beforeEach(async () => {
  scene.received.length = 0;
  scene.answers.clear();
  scene.answers.set("/hangs", () => undefined);
  hostile = await createTestUser(scene.instance);
  other = await createTestUser(scene.instance);
  services = new Map();
});
afterEach(async () => {
  await scene.run("delete from webhook");
  await scene.run("delete from webhook_delivery");
});

/** Of an application that is made for them. */
async function createWebhooks(user: TestUser, path: string, count: number): Promise<readonly string[]> {
  const service = services.get(user) ?? (await createTestService(scene.instance, user));
  services.set(user, service);
  const { applicationId } = await createTestClient(scene.instance, user, service);
  const { organisationId, userId } = user;
  const ids: string[] = [];
  for (let index = 0; index < count; index++) {
    const url = `http://127.0.0.1:${scene.port}${path}`;
    const made = await scene.sealed.create({ organisationId, applicationId }, { url, createdBy: userId });
    ids.push(made?.webhook.id ?? "");
  }
  return ids;
}

/** Messages that are due, so many for each of the webhooks. */
async function addMessages(webhookIds: readonly string[], each: number): Promise<void> {
  await scene.run(
    `insert into webhook_delivery (id, webhook_id, event, body)
      select gen_random_uuid(), webhook_id, 'test', '{}' from unnest($1::uuid[]) as webhook_id cross join generate_series(1, $2)`,
    webhookIds,
    each,
  );
}

test("an organisation whose receivers all hang takes a quarter of the calls, and delays no other", async () => {
  for (let application = 0; application < 4; application++)
    await addMessages(await createWebhooks(hostile, "/hangs", 20), 5);
  const prompt = await createWebhooks(other, "/prompt", 1);
  const deliverer = scene.start();
  await expect.poll(() => scene.at("/hangs").length).toBe(64);
  await addMessages(prompt, 3);
  deliverer.announce();
  await expect.poll(() => scene.at("/prompt").length).toBe(3);
  // None of the calls that hang has ended, and none was added.
  expect(scene.at("/hangs")).toHaveLength(64);
});

test("however many organisations hang, the next one is not delayed", async () => {
  const users = [hostile, ...(await Promise.all([1, 2, 3, 4].map(() => createTestUser(scene.instance))))];
  for (const user of users) await addMessages(await createWebhooks(user, "/hangs", 20), 5);
  const prompt = await createWebhooks(other, "/prompt", 1);
  scene.start();
  await expect.poll(() => scene.at("/hangs").length).toBeGreaterThan(100);
  await addMessages(prompt, 3);
  await expect.poll(() => scene.at("/prompt").length).toBe(3);
});

test("one webhook gets what waits for it as fast as it answers", { tags: "full" }, async () => {
  const [webhook = ""] = await createWebhooks(other, "/prompt", 1);
  await addMessages([webhook], 400);
  scene.start();
  await expect.poll(() => scene.at("/prompt").length).toBe(400);
});
