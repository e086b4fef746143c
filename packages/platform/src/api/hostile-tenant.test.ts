import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { waitUntil } from "@platform/engine/testing/wait-until";
import { PROOF, send } from "../testing/browser.ts";
import { createApiCaller } from "../testing/api-calls.ts";
import type { CallApi } from "../testing/api-calls.ts";
import {
  createTestClient,
  createTestMember,
  createTestService,
  createTestUser,
  fetchAccessToken,
} from "../testing/fixtures.ts";
import type { TestUser } from "../testing/fixtures.ts";
import { startAtOnce } from "../testing/held-lock.ts";
import { createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { sendLate } from "../testing/late-body.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";

let home: TestDatabase;
let here: TestInstance;
let call: CallApi;
let victim: TestUser;
let stranger: TestUser;

beforeAll(async () => {
  home = await createTestDatabase();
  here = await createTestInstance({ database: home.database });
  call = createApiCaller(here);
});
afterAll(async () => {
  await here?.close();
  await home?.close();
});
beforeEach(async () => {
  victim = await createTestUser(here);
  stranger = await createTestUser(here);
});

const byNumber = (one: number, other: number) => one - other;

/** Locks the last row that a request of the user writes: it holds by then whatever it locks. */
const lockLog = ({ organisationId }: TestUser) => ({
  text: "select 1 from audit_chain where organisation_id = $1 for update",
  values: [organisationId],
});

/** Begins when another request waits for a lock. */
async function follow<T>(start: () => Promise<T>): Promise<T> {
  await waitUntil(async () => {
    const waiting = await home.database.query({
      text: "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    });
    return waiting.length > 0;
  });
  return await start();
}

/** Makes a token with another one. */
async function makeToken(parent: TestUser, name: string): Promise<TestUser & { readonly id: string }> {
  const { body } = await call(parent, "POST /personal-access-tokens", { name, scopes: ["admin"] });
  return { ...parent, token: String(body["token"]), id: String(body["id"]) };
}

const lockToken = (id: string) => ({
  text: "select 1 from personal_access_token where id = $1 for update",
  values: [id],
});

describe("a token that is revoked", () => {
  test("takes the tokens that were made with it along, and those that were made with them", async () => {
    const leaked = await makeToken(victim, "leaked");
    const child = await makeToken(leaked, "child");
    const grandchild = await makeToken(child, "grandchild");
    const other = await makeToken(victim, "other");
    expect((await call(child, `DELETE /personal-access-tokens/${child.id}`)).status).toBe(204);
    expect((await call(leaked, "GET /me")).status).toBe(200);
    expect((await call(grandchild, "GET /me")).status).toBe(401);
    const second = await makeToken(leaked, "second");
    expect((await call(victim, `DELETE /personal-access-tokens/${leaked.id}`)).status).toBe(204);
    expect((await call(second, "GET /me")).status).toBe(401);
    expect((await call(other, "GET /me")).status).toBe(200);
  });

  test("makes none at the same moment that goes on", async () => {
    const leaked = await makeToken(victim, "leaked");
    // Its first use is noted in its row.
    await call(leaked, "GET /me");
    const [revoked, made] = await startAtOnce(home, lockToken(leaked.id), () => [
      call(victim, `DELETE /personal-access-tokens/${leaked.id}`),
      call(leaked, "POST /personal-access-tokens", { name: "late", scopes: ["admin"] }),
    ]);
    expect(revoked?.status).toBe(204);
    const late = { ...victim, token: String(made?.body["token"]) };
    expect((await call(late, "GET /me")).status).toBe(401);
  });

  test("takes along what is made with its offspring at the same moment", async () => {
    const leaked = await makeToken(victim, "leaked");
    const child = await makeToken(leaked, "child");
    await call(child, "GET /me");
    const [revoked, made] = await startAtOnce(home, lockLog(victim), () => [
      follow(() => call(victim, `DELETE /personal-access-tokens/${leaked.id}`)),
      call(child, "POST /personal-access-tokens", { name: "late", scopes: ["admin"] }),
    ]);
    expect(revoked?.status).toBe(204);
    const late = { ...victim, token: String(made?.body["token"]) };
    expect((await call(late, "GET /me")).status).toBe(401);
  });

  test("is one of at most 100 of a user, also when many are made at once", async () => {
    await home.database.query({
      text: `insert into personal_access_token (id, user_id, name, token_hash, scopes, expires_at)
        select gen_random_uuid(), $1, 'many', gen_random_uuid()::text, '{read}', now() + interval '1 day' from generate_series(1, 98)`,
      values: [victim.userId],
    });
    const row = { text: "select 1 from platform_user where id = $1 for update", values: [victim.userId] };
    const answers = await startAtOnce(home, row, () =>
      ["one", "two", "three"].map((name) => call(victim, "POST /personal-access-tokens", { name })),
    );
    expect(answers.map(({ status }) => status).toSorted(byNumber)).toEqual([201, 429, 429]);
    expect(answers.find(({ status }) => status === 429)?.body["code"]).toBe("QUOTA_EXCEEDED");
  });
});

describe("an invitation", () => {
  test("that is revoked while it is accepted makes a member, or is revoked, and not both", async () => {
    const { body } = await call(victim, "POST /invitations", { role: "owner" });
    const link = String(body["url"]).split("/").at(-1) ?? "";
    const row = {
      text: "select 1 from invitation where id = $1 for update",
      values: [String(body["id"])],
    };
    const [revoked, accepted] = await startAtOnce(home, row, () => [
      call(victim, `DELETE /invitations/${String(body["id"])}`),
      call(stranger, `POST /invitations/${link}/accept`),
    ]);
    expect([
      [204, 410],
      [404, 200],
    ]).toContainEqual([revoked?.status, accepted?.status]);
  });
});

/** A service of the victim in the marketplace. */
async function offer(provider = victim, organisationId = victim.organisationId) {
  const made = await createTestService(here, { ...provider, organisationId }, "offer");
  await here.stores.services.publish(organisationId, made.serviceKey, "marketplace");
  return made;
}

const lockService = (key: string) => ({
  text: "select 1 from service where key = $1 for update",
  values: [key],
});

async function createApplication(user: TestUser): Promise<string> {
  return String((await call(user, "POST /applications", { name: "shop" })).body["id"]);
}

const deleteOrganisation = (id: string) =>
  here.identity.deleteOrganisation(id, victim.userId).then(
    () => 204,
    () => 409,
  );

describe("a service that is subscribed to at the same moment", () => {
  test("is not deleted with its organisation", async () => {
    const organisationId = await here.identity.createOrganisation(victim.userId, { name: "Short-lived" });
    const { serviceKey } = await offer(victim, organisationId);
    const applicationId = await createApplication(stranger);
    const subscribe = async () =>
      (await call(stranger, "POST /subscriptions", { applicationId, serviceKey })).status;
    const answers = await startAtOnce(home, lockService(serviceKey), () => [
      deleteOrganisation(organisationId),
      subscribe(),
    ]);
    expect([
      [204, 404],
      [409, 201],
    ]).toContainEqual(answers);
  });

  test("is kept from being deleted until that is done", async () => {
    const organisationId = await here.identity.createOrganisation(victim.userId, { name: "Short-lived" });
    const { serviceKey } = await offer(victim, organisationId);
    const applicationId = await createApplication(stranger);
    const answers = await startAtOnce(home, lockLog(stranger), () => [
      call(stranger, "POST /subscriptions", { applicationId, serviceKey }).then(({ status }) => status),
      follow(() => deleteOrganisation(organisationId)),
    ]);
    expect(answers).toEqual([201, 409]);
  });
});

test("a plan that is replaced while a subscriber changes to it is had with the new terms", async () => {
  const { serviceKey } = await offer();
  const applicationId = await createApplication(stranger);
  const subscribed = await call(stranger, "POST /subscriptions", { applicationId, serviceKey });
  const plan = `/services/${serviceKey}/plans/pro`;
  await call(victim, `PUT ${plan}`, { name: "Pro", limits: { perMonth: 100 } });
  const [, changed] = await startAtOnce(home, lockLog(victim), () => [
    call(victim, `PUT ${plan}`, { name: "Pro", limits: { perMonth: 10 } }),
    follow(() => call(stranger, `PUT /subscriptions/${String(subscribed.body["id"])}`, { planId: "pro" })),
  ]);
  expect(changed?.body["plan"]).toMatchObject({ revision: 2, limits: { perMonth: 10 } });
});

describe("an application", () => {
  test("has at most 20 access keys, also when many are made at once", async () => {
    const applicationId = await createApplication(victim);
    for (let made = 0; made < 19; made++)
      await call(victim, `POST /applications/${applicationId}/access-keys`);
    const row = { text: "select 1 from application where id = $1 for update", values: [applicationId] };
    const answers = await startAtOnce(home, row, () =>
      [1, 2, 3].map(() => call(victim, `POST /applications/${applicationId}/access-keys`)),
    );
    expect(answers.map(({ status }) => status).toSorted(byNumber)).toEqual([201, 429, 429]);
  });

  test("has at most 20 access keys, also when many are rotated at once", async () => {
    const applicationId = await createApplication(victim);
    const keys: string[] = [];
    for (let made = 0; made < 19; made++) {
      const { body } = await call(victim, `POST /applications/${applicationId}/access-keys`);
      keys.push(String(body["keyId"]));
    }
    const row = { text: "select 1 from application where id = $1 for update", values: [applicationId] };
    const answers = await startAtOnce(home, row, () =>
      keys
        .slice(0, 3)
        .map((id) => call(victim, `POST /applications/${applicationId}/access-keys/${id}/rotate`)),
    );
    expect(answers.map(({ status }) => status).toSorted(byNumber)).toEqual([201, 429, 429]);
  });
});

describe("of another organisation's service", () => {
  test("neither the log of a build nor the subscribers are read, whoever asks the store", async () => {
    const { serviceKey } = await offer();
    const build = await here.stores.builds.findLatest(victim.organisationId, serviceKey, "1.0.0");
    const applicationId = await createApplication(stranger);
    await call(stranger, "POST /subscriptions", { applicationId, serviceKey });
    const read = async ({ organisationId }: TestUser) => [
      (await here.stores.builds.readLog(organisationId, build?.id ?? "", 0)).lines.length,
      (await here.stores.subscriptions.listOfService(organisationId, serviceKey, { limit: 10 })).items.length,
    ];
    expect(await read(victim)).toEqual([1, 1]);
    expect(await read(stranger)).toEqual([0, 0]);
  });
});

describe("at the gateway", () => {
  test("a service that is published to nobody else answers strangers as one that does not exist", async () => {
    const secret = await createTestService(here, victim, "secret");
    const own = await createTestService(here, stranger, "own");
    const client = await createTestClient(here, stranger, own);
    const authorization = `Bearer ${await fetchAccessToken(here, client)}`;
    const get = async (url: string) => {
      const { statusCode, body } = await here.gateway.inject({
        method: "GET",
        url,
        headers: { authorization },
      });
      return { statusCode, body: body.replaceAll(/"(instance|requestId)":"[^"]*"/gu, "") };
    };
    const unknown = await get("/0193b0a0-0000-7000-8000-000000000000/secret/1.0.0/");
    expect(unknown.statusCode).toBe(404);
    expect(await get(`/${secret.serviceKey}/secret/1.0.0/`)).toEqual(unknown);
    await here.stores.services.publish(victim.organisationId, secret.serviceKey, null);
    expect(await get(`/${secret.serviceKey}/secret/1.0.0/`)).toEqual(unknown);
    await here.stores.services.publish(victim.organisationId, secret.serviceKey, "marketplace");
    await expect.poll(async () => (await get(`/${secret.serviceKey}/secret/1.0.0/`)).statusCode).toBe(403);
  });
});

describe("a request whose body comes when its sender has lost what they had", () => {
  test.each([
    ["a value", "PUT", "/variables/PLANTED", "application/json", '{"value":"planted"}'],
    ["an upload", "POST", "/versions", "application/zip", "no archive"],
  ])(
    "changes nothing of an organisation that they had to leave: %s",
    async (_what, method, path, type, payload) => {
      const { serviceKey } = await createTestService(here, victim, "own");
      const former = await createTestMember(here, victim.organisationId, "maintainer");
      // Remembered from here on, so that the head is admitted at once.
      expect((await call(former, "GET /services")).status).toBe(200);
      const headers = {
        authorization: `Bearer ${former.token}`,
        "x-organizationid": victim.organisationId,
        "content-type": type,
      };
      const late = { method, path: `/api/services/${serviceKey}${path}`, headers, payload };
      const remove = () => call(victim, `DELETE /members/${former.userId}`);
      expect(await sendLate(here.api, late, remove)).toEqual({ status: 403, code: "FORBIDDEN" });
      expect((await call(victim, `GET /services/${serviceKey}/variables`)).body["items"]).toEqual([]);
    },
  );

  test("starts nothing with a key that was revoked", async () => {
    const service = await createTestService(here, victim, "own");
    const client = await createTestClient(here, victim, service);
    const authorization = `Bearer ${await fetchAccessToken(here, client)}`;
    const path = `/${service.serviceKey}/own/1.0.0/`;
    const known = await here.gateway.inject({ url: path, headers: { authorization } });
    expect(known.statusCode).toBe(200);
    const headers = { authorization, "content-type": "application/json" };
    const late = { method: "POST", path, headers, payload: "{}" };
    const { applicationId, keyId } = client;
    const answer = await sendLate(here.gateway, late, () =>
      here.stores.accessKeys.revoke(victim.organisationId, applicationId, keyId),
    );
    expect(answer).toEqual({ status: 401, code: "UNAUTHENTICATED" });
  });
});

describe("who locks somebody out of signing in", () => {
  test("does not keep them from changing their password where they are signed in", async () => {
    const guess = () =>
      send(here, "POST", "/session", {
        headers: PROOF,
        payload: { email: victim.email, password: "guess" },
      });
    for (let tries = 0; tries < 5; tries++) expect((await guess()).statusCode).toBe(401);
    expect((await guess()).statusCode).toBe(429);
    const change = { currentPassword: victim.password, newPassword: "a new long password" };
    expect((await call(victim, "PUT /me/password", change)).status).toBe(204);
    // Nor does the change forget the guesses.
    expect((await guess()).statusCode).toBe(429);
  });

  test("does not keep them from the mail that sets a password by other mails to their address", async () => {
    const { userId, email } = await createTestUser(here);
    const { identity } = here;
    const invite = () => identity.takeInvitation(email, stranger.userId);
    const verify = () => identity.sendVerification({ userId, email });
    for (const send of [invite, verify]) {
      for (let tries = 0; tries < 5; tries++) await send();
      await expect(send()).rejects.toMatchObject({ code: "RATE_LIMITED" });
    }
    await identity.requestPasswordReset(email, "203.0.113.7");
  });
});

describe("bad input", () => {
  test("a null character in a form of the page for programs is no error of the platform", async () => {
    for (const form of [
      { user_code: "\0", email: "a\0@example.org", password: "\0" },
      { ticket: "\0", decision: "approve" },
    ]) {
      const response = await here.api.inject({
        method: "POST",
        url: "/device",
        headers: { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" },
        payload: new URLSearchParams(form).toString(),
      });
      expect([400, 401]).toContain(response.statusCode);
    }
  });

  test.each(["0b1", "0o7", "0x1p", "1e-400", "1e400", "1 ", "1\u00a0", "00", "1e"])(
    "the rank %j in a cursor of the marketplace is refused",
    async (rank) => {
      const keys = [rank, "0193b0a0-0000-7000-8000-000000000000"];
      const cursor = Buffer.from(JSON.stringify(keys)).toString("base64url");
      expect(await call(stranger, `GET /marketplace?cursor=${cursor}`)).toMatchObject({
        status: 400,
        body: { code: "INVALID_INPUT" },
      });
    },
  );

  test.each([
    ["a terminal's escape", "\u001b[2Jshop"],
    ["a line break", "shop\nowner: Platform"],
    ["a change of direction", "shop\u202egnp.exe"],
    ["another change of direction", "shop\u2067"],
    ["nothing that is seen", "\u200b\u2060\ufeff"],
  ])("a name with %s, which strangers are shown, is refused", async (_what, name) => {
    for (const request of [
      "POST /organizations",
      "POST /applications",
      "PUT /me",
      "POST /personal-access-tokens",
    ])
      expect(await call(stranger, request, { name })).toMatchObject({
        status: 400,
        body: { code: "INVALID_INPUT" },
      });
    expect((await call(stranger, "POST /applications", { name: "Łódź שלום 👩‍🔬" })).status).toBe(201);
  });
});
