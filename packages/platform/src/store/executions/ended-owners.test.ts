import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { PoolClient } from "pg";
import { createExecution } from "@platform/engine/testing/execution-fixtures";
import type { Owner } from "@platform/engine/store/owner";
import { waitUntil } from "@platform/engine/testing/wait-until";
import type { RunStatement, Statement } from "../../postgres/database.ts";
import { createTestClient, createTestService, createTestUser } from "../../testing/fixtures.ts";
import type { TestService, TestUser } from "../../testing/fixtures.ts";
import { createTestInstance } from "../../testing/instance.ts";
import type { TestInstance } from "../../testing/instance.ts";
import { createTestStore } from "../../testing/test-store.ts";
import type { TestStore } from "../../testing/test-store.ts";
import { endAsProvider } from "../end-subscription.ts";

let scene: TestStore;
let instance: TestInstance;
let user: TestUser;
let service: TestService;

beforeAll(async () => {
  scene = await createTestStore();
  instance = await createTestInstance({ database: scene.home.connect(), executionStore: scene.store });
  user = await createTestUser(instance);
  service = await createTestService(instance, user);
});
afterAll(async () => {
  await instance?.close();
  await scene?.close();
});

/** The subscription, not yet committed as cancelled on the given connection, as `DELETE /api/subscriptions/{id}` does. */
async function createCancelled(end: PoolClient): Promise<readonly [owner: Owner, code: string, ids: string]> {
  const { subscriptionId } = await createTestClient(instance, user, service);
  await end.query("update subscription set cancelled_at = now() where id = $1", [subscriptionId]);
  const owner = { kind: "subscription", id: subscriptionId, organisationId: user.organisationId } as const;
  return [owner, "NOT_SUBSCRIBED", subscriptionId];
}

/** The subscription, not yet committed as ended on the given connection, as its service's provider does. */
async function createEnded(end: PoolClient): Promise<readonly [owner: Owner, code: string, ids: string]> {
  const { subscriptionId } = await createTestClient(instance, user, service);
  const { organisationId } = user;
  const { serviceKey } = service;
  // The statements of the store, on a connection that has not committed.
  const run: RunStatement = async <Row extends object>({ text, values }: Statement) =>
    (await end.query<Row>(text, [...(values ?? [])])).rows;
  await endAsProvider(run, { organisationId, serviceKey, id: subscriptionId, reason: "Closed" });
  return [{ kind: "subscription", id: subscriptionId, organisationId }, "NOT_SUBSCRIBED", subscriptionId];
}

/** The organisation, not yet committed as deleted, as `DELETE /api/organizations/{id}` does. */
async function createDeleted(end: PoolClient): Promise<readonly [owner: Owner, code: string, ids: string]> {
  const slug = `ended-${randomUUID()}`.slice(0, 20);
  const id = await instance.identity.createOrganisation(user.userId, { name: "Ended", slug });
  await end.query("select id from organisation where id = $1 for update", [id]);
  await end.query("update organisation set deleted_at = now() where id = $1", [id]);
  return [{ kind: "organisation", id, organisationId: id }, "FORBIDDEN", id];
}

/** Takes each execution as it is created, so that a start is the statement of one that is claimed. */
const claimEach = () =>
  scene.store.onCreate?.((claim) => {
    void claim({
      workerId: "worker",
      sandboxLevel: "B",
      limit: 1,
      free: { cpu: 10, memory: 10 },
      leaseSeconds: 60,
      excludedVersionIds: [],
    });
  });

const WAITING =
  "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";

test.each([
  ["the cancelling of a subscription", "waits", createCancelled, () => () => undefined],
  ["the cancelling of a subscription", "is claimed at once", createCancelled, claimEach],
  ["the provider's end of a subscription", "waits", createEnded, () => () => undefined],
  ["the provider's end of a subscription", "is claimed at once", createEnded, claimEach],
  ["the deleting of an organisation", "waits", createDeleted, () => () => undefined],
  ["the deleting of an organisation", "is claimed at once", createDeleted, claimEach],
] as const)(
  "a start that %s meets is refused, in the statement that began before the commit, where it %s",
  async (_ending, _kind, begin, listen) => {
    const stop = listen();
    const end = await scene.home.database.pool.connect();
    try {
      await end.query("begin");
      const [owner, code] = await begin(end);
      const started = scene.store.create(createExecution({ owner })).catch((error: unknown) => error);
      // Where it does not wait for the row, it is stored.
      const waits = waitUntil(async () => (await scene.home.database.query({ text: WAITING })).length > 0);
      await Promise.race([waits, started]);
      await end.query("commit");
      expect(await started).toMatchObject({ code });
      expect((await scene.store.list(owner.id, { limit: 10 })).items).toEqual([]);
    } finally {
      end.release();
      stop?.();
    }
  },
);
