import { kill } from "node:process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readMonotonic } from "@platform/engine/base/monotonic";
import { waitUntil } from "@platform/engine/testing/wait-until";
import { rotateSigningKey } from "../access/signing-keys.ts";
import { createSigningKeyStore } from "../store/signing-keys.ts";
import {
  createTestClient,
  createTestService,
  createTestUser,
  fetchAccessToken,
} from "../testing/fixtures.ts";
import type { TestService, TestUser } from "../testing/fixtures.ts";
import { TEST_SECRET, createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";

let home: TestDatabase;
let here: TestInstance;
let there: TestInstance;
let owner: TestUser;
let service: TestService;

beforeAll(async () => {
  home = await createTestDatabase();
  here = await createTestInstance({ database: home.connect() });
  there = await createTestInstance({ database: home.connect() });
  owner = await createTestUser(here);
  service = await createTestService(here, owner);
});
afterAll(async () => {
  await Promise.all([here?.close(), there?.close()]);
  await home?.close();
});

/** One second is promised; a busy machine gets another. Without the promise it would be five. */
const PROMISED_MS = 2_000;

/** Processes of PostgreSQL that serve the connections on which the two instances listen, once there are both. */
async function findListeners(): Promise<readonly number[]> {
  let pids: readonly number[] = [];
  await waitUntil(async () => (pids = await listListeners()).length === 2);
  return pids;
}

async function listListeners(): Promise<readonly number[]> {
  const rows = await home.database.query<{ pid: number }>({
    text: `select pid from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and (query = 'select 1' or query like 'listen %')`,
  });
  return rows.map(({ pid }) => pid);
}

type Change = () => Promise<unknown>;

/** What is done to the connections on which gateways hear of changes, and how they hear again. */
const LOSSES: readonly (readonly [string, (change: Change) => Promise<() => void>])[] = [
  [
    "do not answer any more",
    async (change) => {
      const pids = await findListeners();
      for (const pid of pids) kill(pid, "SIGSTOP");
      await change();
      return () => {
        for (const pid of pids) kill(pid, "SIGCONT");
      };
    },
  ],
  [
    "were killed",
    async (change) => {
      for (const pid of await findListeners())
        await home.database.query({ text: "select pg_terminate_backend($1)", values: [pid] });
      await change();
      return () => undefined;
    },
  ],
];

function createVictim() {
  return createTestClient(here, owner, service);
}

const callWith = async ({ gateway }: TestInstance, token: string) => {
  const { serviceKey, serviceName, version } = service;
  const url = `/${serviceKey}/${serviceName}/${version}/`;
  return (await gateway.inject({ method: "GET", url, headers: { authorization: `Bearer ${token}` } }))
    .statusCode;
};

/** In how many milliseconds both instances refuse it after the change, before they can hear of it. */
async function measureRefusal(
  lose: (change: Change) => Promise<() => void>,
  change: Change,
  isRefused: (instance: TestInstance) => Promise<boolean>,
): Promise<number> {
  for (const instance of [here, there]) expect(await isRefused(instance)).toBe(false);
  const recover = await lose(change);
  const began = readMonotonic();
  try {
    for (const instance of [here, there]) await waitUntil(() => isRefused(instance));
    return readMonotonic() - began;
  } finally {
    recover();
  }
}

/** Whether a gateway refuses the token; any other answer than to a caller or a stranger is none. */
function refuses(token: string) {
  return async (instance: TestInstance) => {
    const status = await callWith(instance, token);
    expect([200, 401]).toContain(status);
    return status === 401;
  };
}

const retireSigningKeys = () => rotateSigningKey(createSigningKeyStore(home.database), TEST_SECRET, "now");

test.each(LOSSES)(
  "a revoked key is refused at every gateway within a second where the connections for notifications %s",
  async (_what, lose) => {
    const victim = await createVictim();
    const revoke = () =>
      home.database.query({
        text: "update access_key set revoked_at = now() where id = $1 and application_id = $2",
        values: [victim.keyId, victim.applicationId],
      });
    expect(await measureRefusal(lose, revoke, refuses(await fetchAccessToken(here, victim)))).toBeLessThan(
      PROMISED_MS,
    );
  },
);

test.each(LOSSES)(
  "a retired signing key is refused at every gateway within a second where the connections for notifications %s",
  async (_what, lose) => {
    const token = await fetchAccessToken(here, await createVictim());
    expect(await measureRefusal(lose, retireSigningKeys, refuses(token))).toBeLessThan(PROMISED_MS);
  },
);

test.each(LOSSES)(
  "a revoked personal access token is refused by every process within a second where the connections for notifications %s",
  async (_what, lose) => {
    const { id, token } = await here.identity.createPersonalAccessToken(owner.userId, {
      name: "lost",
      scopes: ["read"],
    });
    const revoke = () =>
      home.database.query({
        text: "update personal_access_token set revoked_at = now() where id = $1",
        values: [id],
      });
    expect(
      await measureRefusal(
        lose,
        revoke,
        async ({ identity }) => (await identity.verifyToken(token)) === null,
      ),
    ).toBeLessThan(PROMISED_MS);
  },
);
