import { kill } from "node:process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readMonotonic } from "@platform/engine/base/monotonic";
import { waitUntil } from "@platform/engine/testing/wait-until";
import { rotateSigningKey } from "../access/signing-keys.ts";
import { createSigningKeyStore } from "../store/signing-keys.ts";
import { createAccessKeySecret } from "../access/access-key-secrets.ts";
import {
  createTestClient,
  createTestMember,
  createTestService,
  createTestUser,
  fetchAccessToken,
} from "../testing/fixtures.ts";
import type { TestClient, TestService, TestUser } from "../testing/fixtures.ts";
import { PROOF } from "../testing/browser.ts";
import { startGatewayMember } from "../testing/gateway-members.ts";
import type { GatewayMember } from "../testing/gateway-members.ts";
import { TEST_SECRET, createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";

/** One second is promised; a busy machine gets another. Without the promise it would be five. */
const PROMISED_MS = 2_000;

let home: TestDatabase;
/** Changes what the processes remember; it is asked nothing. */
let here: TestInstance;
let members: readonly GatewayMember[] = [];
let provider: TestUser;
let subscriber: TestUser;
let service: TestService;

beforeAll(async () => {
  home = await createTestDatabase();
  members = await Promise.all([startGatewayMember(home), startGatewayMember(home)]);
  here = await createTestInstance({ database: home.database });
  provider = await createTestUser(here);
  subscriber = await createTestUser(here);
  service = await createTestService(here, provider);
  await here.stores.services.publish(provider.organisationId, service.serviceKey, "marketplace");
});
afterAll(async () => {
  await Promise.all(members.map(({ close }) => close()));
  await here?.close();
  await home?.close();
});

async function readStatus(origin: string, path: string, headers: Record<string, string>): Promise<number> {
  const response = await fetch(`${origin}${path}`, { headers });
  await response.arrayBuffer();
  return response.status;
}

/** What was allowed, what takes it away, and how each process is asked: the answer before and after. */
interface Door {
  readonly what: string;
  readonly ask: (member: GatewayMember) => Promise<number>;
  readonly before: number;
  readonly after: number;
  readonly close: () => Promise<unknown>;
}

const baseOf = ({ serviceKey, serviceName, version }: TestService) =>
  `/${serviceKey}/${serviceName}/${version}`;

/** A call of the service with a token of an application. */
async function openGateway(
  what: string,
  after: number,
  close: (client: TestClient) => Promise<unknown>,
  { called = service, path = "/" } = {},
): Promise<Door> {
  const client = await createTestClient(here, subscriber, called);
  const authorization = `Bearer ${await fetchAccessToken(here, client)}`;
  const before = path === "/" ? 200 : 404;
  return {
    what,
    before,
    after,
    ask: ({ gatewayUrl }) => readStatus(gatewayUrl, `${baseOf(called)}${path}`, { authorization }),
    close: () => close(client),
  };
}

const openApi = (
  what: string,
  after: number,
  headers: Record<string, string>,
  close: () => Promise<unknown>,
  path = "/api/services",
): Door => ({
  what,
  before: 200,
  after,
  ask: ({ apiUrl }) => readStatus(apiUrl, path, headers),
  close,
});

async function openDoors(): Promise<readonly Door[]> {
  const { accessKeys, applications, subscriptions, services } = here.stores;
  const { organisationId } = subscriber;
  const secretive = await createTestService(here, provider, `s${String(readMonotonic()).replace(".", "")}`);
  await services.publish(provider.organisationId, secretive.serviceKey, "marketplace");
  const guest = await createTestMember(here, organisationId, "viewer");
  const owner = await createTestMember(here, organisationId, "owner");
  const { id, token } = await here.identity.createPersonalAccessToken(subscriber.userId, { name: "lost" });
  const parent = await here.identity.createPersonalAccessToken(subscriber.userId, { name: "parent" });
  const child = await here.identity.createPersonalAccessToken(subscriber.userId, {
    name: "child",
    parent: { id: parent.id, expiresAt: null },
  });
  const cookie = await here.identity.createSession(subscriber.userId, { userAgent: "", ip: "192.0.2.1" });
  const session = await here.identity.verifySession(cookie ?? "");
  const extra = createAccessKeySecret();
  return [
    await openGateway("an access key", 401, ({ applicationId, keyId }) =>
      accessKeys.revoke(organisationId, applicationId, keyId),
    ),
    await openGateway("a rotated access key", 401, ({ applicationId, keyId: former }) =>
      accessKeys.rotate(organisationId, applicationId, {
        former,
        next: { id: extra.keyId, secretHash: extra.secretHash },
        hours: 0,
      }),
    ),
    await openGateway("an application", 401, ({ applicationId }) =>
      applications.delete(organisationId, applicationId),
    ),
    await openGateway("a subscription", 403, ({ subscriptionId }) =>
      subscriptions.cancel(organisationId, subscriptionId),
    ),
    await openGateway(
      "the logs of executions",
      403,
      () => services.change(provider.organisationId, secretive.serviceKey, { logs: "provider" }),
      { called: secretive, path: "/0193b0a0-0000-7000-8000-000000000000/log" },
    ),
    openApi("a personal access token", 401, { authorization: `Bearer ${token}` }, () =>
      here.identity.revokePersonalAccessToken(subscriber.userId, id),
    ),
    openApi("a token that was made with another", 401, { authorization: `Bearer ${child.token}` }, () =>
      here.identity.revokePersonalAccessToken(subscriber.userId, parent.id),
    ),
    openApi("a session", 401, { ...PROOF, cookie: `platform_session=${cookie}` }, () =>
      here.identity.revokeSession(subscriber.userId, session?.sessionId ?? ""),
    ),
    openApi(
      "a membership",
      403,
      { authorization: `Bearer ${guest.token}`, "x-organizationid": organisationId },
      () => here.identity.removeMember({ organisationId, userId: guest.userId, by: subscriber.userId }),
    ),
    openApi(
      "a role",
      403,
      { authorization: `Bearer ${owner.token}`, "x-organizationid": organisationId },
      () =>
        here.identity.changeRole({
          organisationId,
          userId: owner.userId,
          role: "viewer",
          by: subscriber.userId,
        }),
      // Only owners read it.
      "/api/audit-events",
    ),
  ];
}

/** A start with this body, which a paused subscription and a retired version refuse though their results can be read. */
async function startWith(
  { gatewayUrl }: GatewayMember,
  called: TestService,
  { token, body = {} }: { readonly token: string; readonly body?: object },
): Promise<number> {
  const response = await fetch(`${gatewayUrl}${baseOf(called)}/`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  await response.arrayBuffer();
  return response.status;
}

/** A file of the provider's that an application of the subscriber may refer to, and what withdraws that. */
async function openReferences(): Promise<readonly Door[]> {
  const { dataPools, poolFiles, poolShares, poolGrants } = here.stores;
  const { organisationId, userId: createdBy } = provider;
  const open = async (
    what: string,
    close: (pool: { organisationId: string; poolId: string }, client: TestClient) => Promise<unknown>,
  ): Promise<Door> => {
    const client = await createTestClient(here, subscriber, service);
    const token = await fetchAccessToken(here, client);
    const made = await dataPools.create({
      organisationId,
      name: client.applicationId,
      description: "",
      createdBy,
    });
    if (made === "name taken") throw new Error("The name is taken.");
    const pool = { organisationId, poolId: made.id };
    await poolShares.put(pool, { organisationId: subscriber.organisationId, role: "viewer", createdBy });
    await poolGrants.put(pool, { applicationId: client.applicationId, access: "read", createdBy });
    // Looked at already: the processes have no content in common.
    const hash = "1".repeat(64);
    const insert = "insert into object (hash, form) values ($1, 'object') on conflict do nothing";
    await home.database.query({ text: insert, values: [hash] });
    const file = { hash, bytes: 2, name: "input.json", mediaType: "application/json", mayReplace: true };
    const stored = await poolFiles.put({ ...pool, ...file, createdBy });
    if (stored === null || typeof stored === "string") throw new Error("The file was not stored.");
    const dataRef = {
      dataPoolId: made.id,
      dataSourceDescriptorId: stored.descriptorId,
      fileId: stored.id,
    };
    return {
      what,
      before: 201,
      after: 422,
      ask: (member) => startWith(member, service, { token, body: { dataRef } }),
      close: () => close(pool, client),
    };
  };
  return [
    await open("the files of a data pool", (pool, { applicationId }) =>
      poolGrants.delete(pool, applicationId),
    ),
    await open("a data pool of another organisation", (pool) =>
      poolShares.delete(pool, subscriber.organisationId),
    ),
    await open("a data pool that is deleted", (pool) => dataPools.delete(organisationId, pool.poolId)),
  ];
}

async function openStarts(): Promise<readonly Door[]> {
  const { subscriptions, versions } = here.stores;
  const withdrawn = await createTestService(here, subscriber, `w${String(readMonotonic()).replace(".", "")}`);
  const open = async (
    what: string,
    after: number,
    { called, close }: { called: TestService; close: (client: TestClient) => Promise<unknown> },
  ): Promise<Door> => {
    const client = await createTestClient(here, subscriber, called);
    const token = await fetchAccessToken(here, client);
    return {
      what,
      before: 201,
      after,
      ask: (member) => startWith(member, called, { token }),
      close: () => close(client),
    };
  };
  return [
    await open("a subscription that is paused", 403, {
      called: service,
      close: ({ subscriptionId }) =>
        subscriptions.change(subscriber.organisationId, subscriptionId, { isPaused: true }),
    }),
    await open("a version that is retired", 410, {
      called: withdrawn,
      close: () => versions.retire(subscriber.organisationId, withdrawn.serviceKey, "1.0.0"),
    }),
  ];
}

/** Processes of PostgreSQL that serve the connections on which the processes listen, the test's own among them. */
async function listListeners(): Promise<readonly number[]> {
  const rows = await home.database.query<{ pid: number }>({
    text: `select pid from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and (query = 'select 1' or query like 'listen %')`,
  });
  return rows.map(({ pid }) => pid);
}

async function findListeners(): Promise<readonly number[]> {
  let pids: readonly number[] = [];
  await waitUntil(async () => (pids = await listListeners()).length === 3);
  return pids;
}

const WHOLE = "are whole";

/** What is done to the connections before the changes, and what is undone after them. */
const LOSSES: readonly (readonly [string, () => Promise<() => void>])[] = [
  [WHOLE, async () => () => undefined],
  [
    "do not answer any more",
    async () => {
      const pids = await findListeners();
      for (const pid of pids) kill(pid, "SIGSTOP");
      return () => {
        for (const pid of pids) kill(pid, "SIGCONT");
      };
    },
  ],
  [
    "were killed",
    async () => {
      for (const pid of await findListeners())
        await home.database.query({ text: "select pg_terminate_backend($1)", values: [pid] });
      return () => undefined;
    },
  ],
];

/** Milliseconds from its change on until both processes refuse. */
async function measure({ what, ask, after, close }: Door): Promise<readonly [string, number]> {
  const began = readMonotonic();
  await close();
  for (const member of members) await waitUntil(async () => (await ask(member)) === after);
  return [what, Math.round(readMonotonic() - began)];
}

async function measureEach(doors: readonly Door[]): Promise<(readonly [string, number])[]> {
  const times: (readonly [string, number])[] = [];
  for (const door of doors) {
    // Remembered again: the change before it made the processes forget all.
    for (const member of members) await door.ask(member);
    times.push(await measure(door));
  }
  return times;
}

test.each(LOSSES)(
  "what is taken away is refused by two processes within a second where the connections for notifications %s",
  async (what, lose) => {
    const key = await openGateway("a signing key", 401, () =>
      rotateSigningKey(createSigningKeyStore(home.database), TEST_SECRET, "now"),
    );
    const doors = [...(await openDoors()), ...(await openStarts()), ...(await openReferences())];
    for (const door of [...doors, key])
      for (const member of members)
        expect([door.what, await door.ask(member)]).toEqual([door.what, door.before]);
    const recover = await lose();
    try {
      // One after the other where each has to be notified by itself.
      const times = what === WHOLE ? await measureEach(doors) : await Promise.all(doors.map(measure));
      // After the others: it takes all their tokens along.
      times.push(await measure(key));
      expect(times.filter(([, ms]) => ms >= PROMISED_MS)).toEqual([]);
    } finally {
      recover();
    }
  },
);
