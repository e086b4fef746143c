import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { AuditEvent } from "@platform/contract/platform-api/audit";
import type { InstanceOrganization, User } from "@platform/contract/platform-api/operator-accounts";
import { waitUntil } from "@platform/engine/testing/wait-until";
import { createApiCaller } from "../testing/api-calls.ts";
import type { CallApi } from "../testing/api-calls.ts";
import { PROOF, createBrowser, getMe, send } from "../testing/browser.ts";
import { createTestOperator, createTestService, createTestUser } from "../testing/fixtures.ts";
import type { TestUser } from "../testing/fixtures.ts";
import { createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";

let home: TestDatabase;
let here: TestInstance;
let there: TestInstance;
let call: CallApi;
let operator: TestUser;
let user: TestUser;

beforeAll(async () => {
  home = await createTestDatabase();
  const mailer = {
    sendsMail: true,
    send: () => undefined,
    prepare: (make: () => Promise<unknown>) => void make(),
    close: async () => undefined,
  };
  here = await createTestInstance({ database: home.database, mailer });
  // It learns of changes by notifications only: by itself it forgets nothing.
  there = await createTestInstance({ database: home.connect(), elapsed: () => 0 });
  call = createApiCaller(here);
  operator = await createTestOperator(here);
});
afterAll(async () => {
  await Promise.all([here?.close(), there?.close()]);
  await home?.close();
});
beforeEach(async () => {
  user = await createTestUser(here);
});

const run = <Row extends object>(text: string, ...values: readonly unknown[]) =>
  home.database.query<Row>({ text, values });

const setDisabled = (disabled: boolean, of = user, by = operator) =>
  call(by, `PUT /operator/users/${of.userId}`, { disabled });

async function listItems<Item>(path: string): Promise<readonly Item[]> {
  const items: Item[] = [];
  for (let cursor = ""; ;) {
    const joint = path.includes("?") ? "&" : "?";
    const answer = await call(
      operator,
      `GET ${path}${joint}limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`,
    );
    expect(answer.status).toBe(200);
    items.push(...(answer.body["items"] as readonly Item[]));
    const next = answer.body["nextCursor"];
    if (typeof next !== "string") return items;
    cursor = encodeURIComponent(next);
  }
}

async function readLog(of: TestUser): Promise<readonly AuditEvent[]> {
  return (await call(of, "GET /audit-events")).body["items"] as readonly AuditEvent[];
}

describe("disabling a user", () => {
  test("ends sessions and tokens in this process at once, and in others within seconds", async () => {
    const cookie = `platform_session=${await here.identity.createSession(user.userId, { userAgent: "x", ip: "192.0.2.1" })}`;
    const useToken = (instance: TestInstance) =>
      send(instance, "GET", "/me", { headers: { authorization: `Bearer ${user.token}` } });
    for (const instance of [here, there]) {
      expect((await useToken(instance)).statusCode).toBe(200);
      expect((await getMe(instance, cookie)).statusCode).toBe(200);
    }
    const answer = await setDisabled(true);
    expect(answer).toMatchObject({ status: 200, body: { id: user.userId, disabledAt: expect.any(String) } });
    expect((await useToken(here)).statusCode).toBe(401);
    expect((await getMe(here, cookie)).statusCode).toBe(401);
    await waitUntil(async () => (await useToken(there)).statusCode === 401);
    await waitUntil(async () => (await getMe(there, cookie)).statusCode === 401);
  });

  test("keeps them ended when the user is enabled again, who signs in anew", async () => {
    const { user: ada, signIn, startSession } = await createBrowser(here);
    const cookie = await startSession();
    await setDisabled(true, ada);
    expect((await signIn(ada.email)).statusCode).toBe(401);
    expect((await setDisabled(false, ada)).body).toMatchObject({ disabledAt: null });
    expect((await getMe(here, cookie)).statusCode).toBe(401);
    expect((await call(ada, "GET /me")).status).toBe(401);
    expect((await signIn(ada.email)).statusCode).toBe(200);
  });

  test("stands in the logs of the operator and of the user, once for each change", async () => {
    await setDisabled(true);
    await setDisabled(true);
    await setDisabled(false);
    const { token } = await here.identity.createPersonalAccessToken(user.userId, {
      name: "new",
      scopes: ["admin"],
    });
    const entries = (await readLog({ ...user, token })).filter(({ action }) => action === "user.administer");
    const actor = { kind: "operator", id: operator.userId, name: operator.email };
    const target = { type: "user", id: user.userId };
    expect(entries).toMatchObject([
      { actor, target, outcome: "done", changes: [{ field: "disabled", before: "true", after: "false" }] },
      { actor, target, outcome: "done", changes: [{ field: "disabled", before: "false", after: "true" }] },
    ]);
    const own = (await readLog(operator)).filter(({ target: { id } }) => id === user.userId);
    expect(own.map(({ changes }) => changes)).toEqual(entries.map(({ changes }) => changes));
  });

  test("is refused for oneself, in any case of the id, and for nobody", async () => {
    const own = { ...operator, userId: operator.userId.toUpperCase() };
    for (const of of [operator, own])
      expect(await setDisabled(true, of)).toMatchObject({ status: 409, body: { code: "CONFLICT" } });
    expect((await call(operator, "GET /me")).status).toBe(200);
    for (const userId of [randomUUID(), "nobody", "%00"])
      expect((await setDisabled(true, { ...user, userId })).status).toBeGreaterThanOrEqual(400);
    expect(await setDisabled(true, { ...user, userId: randomUUID() })).toMatchObject({ status: 404 });
  });

  test("leaves one of two operators who disable each other at the same time", async () => {
    const [one, two] = await Promise.all([createTestOperator(here), createTestOperator(here)]);
    const answers = await Promise.all([setDisabled(true, two, one), setDisabled(true, one, two)]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 401]);
    const rows = await run("select 1 from platform_user where id = any ($1) and disabled_at is null", [
      one.userId,
      two.userId,
    ]);
    expect(rows).toHaveLength(1);
  });

  test("ends a link to set a password that was open", async () => {
    const link = await call(operator, `POST /operator/users/${user.userId}/reset-link`, {});
    await setDisabled(true);
    await setDisabled(false);
    expect((await usePassword(String(link.body["url"]))).statusCode).toBe(410);
  });
});

const PATH = /^http:\/\/api\.test:8090\/reset-password\/([A-Za-z0-9_-]{43})$/u;

/** Sets a password with a link. */
async function usePassword(url: string) {
  const [, token = ""] = PATH.exec(url) ?? [];
  return await send(here, "PUT", `/password-resets/${token}`, {
    payload: { password: "a password of the link" },
  });
}

const createLink = (of = user, body: object = {}) =>
  call(operator, `POST /operator/users/${of.userId}/reset-link`, body);

describe("a link to set a password", () => {
  test("works once, for its user, and ends their sessions", async () => {
    const { user: ada, signIn, startSession } = await createBrowser(here);
    const cookie = await startSession();
    const made = await createLink(ada);
    expect(made).toMatchObject({ status: 201, body: { userId: ada.userId, email: ada.email } });
    const url = String(made.body["url"]);
    expect(url).toMatch(PATH);
    expect((await usePassword(url)).statusCode).toBe(204);
    expect((await usePassword(url)).statusCode).toBe(410);
    expect((await getMe(here, cookie)).statusCode).toBe(401);
    expect((await signIn(ada.email, { password: "a password of the link" })).statusCode).toBe(200);
  });

  test("says nothing about whose the address is, though links go by mail here", async () => {
    expect((await usePassword(String((await createLink()).body["url"]))).statusCode).toBe(204);
    const rows = await run(
      "select 1 from platform_user where id = $1 and email_verified_at is null",
      user.userId,
    );
    expect(rows).toHaveLength(1);
    // What was made before the first proof of an address would have ended.
    expect((await call(user, "GET /me")).status).toBe(200);
  });

  test("goes on where anybody asks for another one by mail, until one of them is used", async () => {
    const { url } = (await createLink()).body;
    const listLinks = () =>
      run(
        "select data ->> 'isByOperator' as by from one_time_token where user_id = $1 order by 1",
        user.userId,
      );
    await send(here, "POST", "/password-resets", { payload: { email: user.email } });
    // It is made behind the answer, which takes as long for an address that nobody has.
    await expect.poll(listLinks).toContainEqual({ by: "false" });
    expect(await listLinks()).toHaveLength(2);
    expect((await usePassword(String(url))).statusCode).toBe(204);
    expect(await listLinks()).toEqual([]);
  });

  test("ends the one before, and ends itself after its time", async () => {
    const first = await createLink();
    const second = await createLink(user, { expiresInMinutes: 5 });
    expect((await usePassword(String(first.body["url"]))).statusCode).toBe(410);
    await run(
      "update one_time_token set expires_at = expires_at - interval '5 minutes' where user_id = $1",
      user.userId,
    );
    expect((await usePassword(String(second.body["url"]))).statusCode).toBe(410);
    expect((await createLink(user, { expiresInMinutes: 4 })).status).toBe(400);
    expect((await createLink(user, { expiresInMinutes: 4321 })).status).toBe(400);
  });

  test("is stored as a hash, and stands in both logs without its secret", async () => {
    const [, token = "none"] = PATH.exec(String((await createLink()).body["url"])) ?? [];
    for (const of of [user, operator]) {
      const [entry] = await readLog(of);
      expect(entry).toMatchObject({
        action: "reset-link.issue",
        actor: { kind: "operator", name: operator.email },
        target: { id: user.userId },
      });
      expect(JSON.stringify(entry)).not.toContain(token);
    }
    const stored = await run("select to_jsonb(t) from one_time_token t where user_id = $1", user.userId);
    expect(stored).toHaveLength(1);
    expect(JSON.stringify(stored)).not.toContain(token);
  });

  test("is not made for a user who is disabled, or for nobody", async () => {
    await setDisabled(true);
    expect(await createLink()).toMatchObject({ status: 409, body: { code: "CONFLICT" } });
    expect(await createLink({ ...user, userId: randomUUID() })).toMatchObject({ status: 404 });
  });

  test("is refused to who is no operator, whose try is written in their own log", async () => {
    const tried = await call(user, `POST /operator/users/${operator.userId}/reset-link`, {});
    expect(tried).toMatchObject({ status: 403, body: { code: "FORBIDDEN" } });
    const [entry] = await readLog(user);
    expect(entry).toMatchObject({
      action: "reset-link.issue",
      actor: { kind: "user", id: user.userId },
      outcome: "refused",
    });
    const links = await run("select 1 from one_time_token where user_id = $1", operator.userId);
    expect(links).toEqual([]);
  });

  test("is not made by a form of another page with the operator's cookie", async () => {
    const value = await here.identity.createSession(operator.userId, { userAgent: "x", ip: "192.0.2.1" });
    const cookie = `platform_session=${value}`;
    for (const headers of [{ cookie }, { ...PROOF, "sec-fetch-site": "cross-site", cookie }]) {
      const forged = await send(here, "POST", `/operator/users/${user.userId}/reset-link`, {
        headers,
        payload: {},
      });
      expect(forged.statusCode).toBe(403);
    }
    expect(await run("select 1 from one_time_token where user_id = $1", user.userId)).toEqual([]);
  });
});

const find = async (query: string) => (await listItems<User>(`/operator/users?${query}`)).map(({ id }) => id);

describe("lists", () => {
  test("have every user once, newest first, page by page, also those made in one millisecond", async () => {
    await run("update platform_user set created_at = '2026-01-01' where id = $1", user.userId);
    const twin = await createTestUser(here);
    await run("update platform_user set created_at = '2026-01-01' where id = $1", twin.userId);
    const users = await listItems<User>("/operator/users");
    const rows = await run<{ id: string }>("select id from platform_user order by created_at desc, id desc");
    expect(users.map(({ id }) => id)).toEqual(rows.map(({ id }) => id));
  });

  test("find users by a part of their address or name, and by their kind", async () => {
    await run("update platform_user set name = 'Grace 100% Hopper_' where id = $1", user.userId);
    expect(await find("q=100%25%20hopper_")).toEqual([user.userId]);
    expect(await find(`q=${user.email.slice(0, 20).toUpperCase()}`)).toEqual([user.userId]);
    expect(await find("q=100x")).toEqual([]);
    await run("update platform_user set email = 'grace@example.org' where id = $1", user.userId);
    expect(await find(`q=${user.userId.toUpperCase()}`)).toEqual([user.userId]);
    expect(await find(`q=${user.userId.slice(0, 35)}`)).toEqual([]);
    await run("update platform_user set email = $2 where id = $1", user.userId, user.email);
    expect(await find("state=operator")).toContain(operator.userId);
    expect(await find("state=operator")).not.toContain(user.userId);
    expect(await find(`q=${user.userId}&state=disabled`)).toEqual([]);
    await setDisabled(true);
    expect(await find(`q=${user.userId}&state=disabled`)).toEqual([user.userId]);
    expect(await find(`q=${user.userId}&state=enabled`)).toEqual([]);
    expect((await call(operator, "GET /operator/users?state=all")).status).toBe(400);
    expect((await call(operator, "GET /operator/users?cursor=WyIxIiwiMiJd")).status).toBe(400);
  });

  test("have every organisation with what it has in numbers", async () => {
    await createTestService(here, user);
    const made = await call(user, "POST /data-pools", { name: "Data" });
    await send(here, "PUT", `/data-pools/${String(made.body["id"])}/files/a.json`, {
      headers: { authorization: `Bearer ${user.token}`, "content-type": "application/json" },
      payload: "{}",
    });
    const all = await listItems<InstanceOrganization>("/operator/organizations");
    const rows = await run("select 1 from organisation where deleted_at is null");
    expect(new Set(all.map(({ id }) => id)).size).toBe(rows.length);
    expect(all.find(({ id }) => id === user.organisationId)).toMatchObject({
      isPersonal: true,
      members: 1,
      services: 1,
      applications: 0,
      poolBytes: 2,
    });
    const found = await listItems<InstanceOrganization>(
      `/operator/organizations?q=${user.userId.slice(0, 8)}`,
    );
    expect(found.map(({ id }) => id)).toEqual([user.organisationId]);
  });
});

describe("who is an operator", () => {
  test("is said by the server's command line, and holds for tokens that are known already", async () => {
    expect((await call(user, "GET /operator/users")).status).toBe(403);
    expect(await here.identity.setOperator(` ${user.email.toUpperCase()} `, true)).toBe("changed");
    await waitUntil(async () => (await call(user, "GET /operator/users")).status === 200);
    expect(await here.identity.setOperator(user.email, true)).toBe("unchanged");
    expect(await here.identity.setOperator(user.email, false)).toBe("changed");
    await waitUntil(async () => (await call(user, "GET /operator/users")).status === 403);
    expect(await here.identity.setOperator("nobody@example.org", true)).toBeNull();
    const entries = await readLog(user);
    expect(entries.filter(({ actor }) => actor.kind === "operator")).toMatchObject([
      { action: "operator.revoke", actor: { id: null, name: "" }, target: { id: user.userId } },
      { action: "operator.grant", actor: { id: null, name: "" }, target: { id: user.userId } },
    ]);
    const verified = await call(user, "GET /audit-events/verification");
    expect(verified.body).toMatchObject({ firstBroken: null });
  });

  test("the last one who is not disabled stays, also where two end at the same time", async () => {
    const alone = await createTestDatabase();
    const instance = await createTestInstance({ database: alone.database });
    try {
      const [one, two, third] = [
        await createTestOperator(instance),
        await createTestOperator(instance),
        await createTestOperator(instance),
      ];
      await instance.identity.setUserDisabled(third.userId, true, one.userId);
      const end = ({ email }: TestUser) => instance.identity.setOperator(email, false);
      const ended = await Promise.all([end(one), end(two)]);
      expect(ended.map(String).toSorted()).toEqual(["changed", "last operator"]);

      // Disabled on one side, and an operator no longer on the other.
      const [left] = await alone.database.query<{ id: string; email: string }>({
        text: "select id, email from platform_user where is_operator and disabled_at is null",
      });
      if (left === undefined) throw new Error("There is no operator.");
      await expect(instance.identity.setUserDisabled(left.id, true, third.userId)).rejects.toMatchObject({
        code: "CONFLICT",
      });
      const other = await createTestOperator(instance);
      const both = await Promise.allSettled([
        instance.identity.setUserDisabled(other.userId, true, left.id),
        instance.identity.setOperator(left.email, false),
      ]);
      const operators = await alone.database.query({
        text: "select 1 from platform_user where is_operator and disabled_at is null",
      });
      expect([both.map(({ status }) => status), operators]).toEqual([expect.any(Array), [expect.anything()]]);
    } finally {
      await instance.close();
      await alone.close();
    }
  });
});
