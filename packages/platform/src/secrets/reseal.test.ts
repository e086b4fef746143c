import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createSigningKeys, rotateSigningKey } from "../access/signing-keys.ts";
import { createStores } from "../store/stores.ts";
import type { Stores } from "../store/stores.ts";
import { createWebhookId } from "../store/webhooks/webhooks.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";
import { createWebhookRing } from "./key-ring.ts";
import type { PlatformSecret } from "./key-ring.ts";
import { resealAll } from "./reseal.ts";
import { createVariables } from "./variables.ts";

const MEMBER = new URL("../testing/reseal-member.ts", import.meta.url).pathname;
const [OLD, NEW] = ["the secret until today", "the secret from now on"];
const BEFORE = { current: OLD, others: [NEW] };
const WHILE = { current: NEW, others: [OLD] };
const AFTER = { current: NEW, others: [] };

let home: TestDatabase;
let stores: Stores;
const [organisationId, by, serviceKey] = [randomUUID(), randomUUID(), randomUUID()];
const ofService = { organisationId, serviceKey };
const ofAll = { organisationId, serviceKey: null };

beforeEach(async () => {
  home = await createTestDatabase();
  stores = createStores(home.database);
  await run("insert into organisation (id, name, slug) values ($1, 'Ada', 'ada')", organisationId);
  await run("insert into platform_user (id, email, name) values ($1, 'ada@example.org', 'Ada')", by);
  await run(
    "insert into service (key, organisation_id, name) values ($2, $1, 'tsp')",
    organisationId,
    serviceKey,
  );
});
afterEach(() => home.close());

const run = (text: string, ...values: unknown[]) => home.database.query({ text, values });
const open = (secret: PlatformSecret = AFTER) => createVariables(stores.variables, secret);
const read = async (secret: PlatformSecret = AFTER) => (await open(secret).readOfService(serviceKey)).values;
const put = (
  secret: PlatformSecret,
  name: string,
  value: string,
  scope: typeof ofAll | typeof ofService = ofService,
) => open(secret).put(scope, { kind: "secret", name, value, by });

test("secrets and signing keys are sealed with the new secret, so that the old one is not needed any more", async () => {
  await put(BEFORE, "OF_SERVICE", "value of the service");
  await put(BEFORE, "OF_ALL", "value for all services", ofAll);
  await put(WHILE, "NEW_ALREADY", "a value of today");
  await rotateSigningKey(stores.signingKeys, BEFORE, "now");
  const { kid } = await createSigningKeys({ store: stores.signingKeys, secret: WHILE }).current();
  await expect(read()).rejects.toThrow("was stored by a platform with another --secret");
  expect(await resealAll(stores, WHILE)).toEqual({ resealed: 3, unopened: [] });
  expect(await read()).toEqual({
    OF_SERVICE: "value of the service",
    OF_ALL: "value for all services",
    NEW_ALREADY: "a value of today",
  });
  // A value that is sealed anew is the same one: no warm process is replaced, and nobody has changed it.
  expect(await open().list(ofAll, "secret", { limit: 9, offset: 0 })).toMatchObject([{ revision: 1 }]);
  expect((await createSigningKeys({ store: stores.signingKeys, secret: AFTER }).current()).kid).toBe(kid);
  expect(await resealAll(stores, AFTER)).toEqual({ resealed: 0, unopened: [] });
});

test("what is set or deleted meanwhile stays, by processes with the new secret and by those with the old one", async () => {
  for (const name of ["GONE", "LATE", "NEWER"]) await put(BEFORE, name, "the former value");
  const changes = [
    () => put(BEFORE, "LATE", "set with the old secret"),
    () => put(AFTER, "NEWER", "set with the new secret"),
    () => open().delete(ofService, { kind: "secret", name: "GONE", by }),
  ];
  const variables: Stores["variables"] = {
    ...stores.variables,
    // Between reading a page and its first statement.
    reseal: async (former, sealed) => {
      for (const change of changes.splice(0)) await change();
      return await stores.variables.reseal(former, sealed);
    },
  };
  expect(await resealAll({ ...stores, variables }, WHILE)).toEqual({ resealed: 1, unopened: [] });
  expect(await read()).toEqual({ LATE: "set with the old secret", NEWER: "set with the new secret" });
});

test("a webhook whose secret is replaced meanwhile keeps none of the old secret, its former one neither", async () => {
  const [sealing, ring] = [createWebhookRing(BEFORE), createWebhookRing(WHILE)];
  const hook = { organisationId, applicationId: "jobs", webhookId: createWebhookId() };
  await stores.webhooks.create(hook, {
    id: hook.webhookId,
    url: "https://example.org/hook",
    events: ["execution.failed"],
    createdBy: by,
    sealed: sealing.seal("first", hook.webhookId),
    keyId: sealing.keyId,
  });
  const changes = [
    () =>
      stores.webhooks.rotate(hook, { sealed: ring.seal("second", hook.webhookId), keyId: ring.keyId }, 24),
  ];
  const webhooks: Stores["webhooks"] = {
    ...stores.webhooks,
    reseal: async (former, sealed) => {
      for (const change of changes.splice(0)) await change();
      return await stores.webhooks.reseal(former, sealed);
    },
  };
  expect(await resealAll({ ...stores, webhooks }, WHILE)).toEqual({ resealed: 1, unopened: [] });
  expect(await stores.webhooks.listSealedOtherwise(ring.keyId, null, 10)).toEqual([]);
});

test("a signing key that a process with the old secret makes meanwhile is sealed anew as well", async () => {
  await rotateSigningKey(stores.signingKeys, BEFORE, "now");
  const changes = [() => rotateSigningKey(stores.signingKeys, BEFORE, "when unused")];
  const signingKeys: Stores["signingKeys"] = {
    ...stores.signingKeys,
    reseal: async (former, sealed) => {
      for (const change of changes.splice(0)) await change();
      await stores.signingKeys.reseal(former, sealed);
    },
  };
  expect(await resealAll({ ...stores, signingKeys }, WHILE)).toEqual({ resealed: 2, unopened: [] });
  await createSigningKeys({ store: stores.signingKeys, secret: AFTER }).current();
});

test("a process that was killed in between has lost nothing, and the next one does the rest", async () => {
  const names = Array.from({ length: 30 }, (_, index) => `S${index}`);
  const expected = Object.fromEntries(names.map((name) => [name, `value of ${name}`]));
  for (const [name, value] of Object.entries(expected)) await put(BEFORE, name, value);
  const words = [home.target.host, home.target.database, NEW, OLD, "7"];
  const member = spawn(process.execPath, [MEMBER, ...words], { stdio: "inherit" });
  expect(await once(member, "exit")).toEqual([null, "SIGKILL"]);
  expect([await read(BEFORE), await read(WHILE)]).toEqual([expected, expected]);
  expect(await resealAll(stores, WHILE)).toEqual({ resealed: 23, unopened: [] });
  expect(await read()).toEqual(expected);
});

test("what neither secret opens is named and left, and does not keep the others", async () => {
  const lost = { current: "a secret that nobody knows", others: [] };
  // With the one that opens a whole page, so that there is a next one.
  for (let index = 0; index < 49; index++) await put(lost, `LOST_${index}`, "a lost value");
  for (let index = 0; index < 50; index++) await put(lost, `LOST_${index}`, "a lost value", ofAll);
  await rotateSigningKey(stores.signingKeys, lost, "now");
  await put(BEFORE, "FOUND", "a value that opens");
  const { resealed, unopened } = await resealAll(stores, WHILE);
  expect([resealed, unopened.length]).toEqual([1, 100]);
  expect(unopened).toContain(
    `the secret LOST_1 of the service ${serviceKey} in the organisation ${organisationId}`,
  );
  expect(unopened).toContain(`the secret LOST_1 of the organisation ${organisationId}`);
  expect(unopened).toContainEqual(expect.stringMatching(/^the signing key /u));
  await expect(read(lost)).rejects.toThrow("FOUND");
});
