import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { waitUntil } from "@platform/engine/testing/wait-until";
import { createPostgresExecutionStore } from "../store/executions/execution-store.ts";
import type { PostgresExecutionStore } from "../store/executions/execution-store.ts";
import { send } from "../testing/browser.ts";
import {
  createTestClient,
  createTestMember,
  createTestPlan,
  createTestService,
  createTestUser,
} from "../testing/fixtures.ts";
import type { TestUser } from "../testing/fixtures.ts";
import { startAtOnce } from "../testing/held-lock.ts";
import { createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";

let home: TestDatabase;
let here: TestInstance;
let there: TestInstance;
let executionStore: PostgresExecutionStore;
let ada: TestUser;
/** An organisation of which Ada is the only owner. */
let id: string;

beforeAll(async () => {
  home = await createTestDatabase();
  executionStore = createPostgresExecutionStore({ database: home.database });
  here = await createTestInstance({ database: home.database, executionStore });
  // It learns of changes by notifications only: by itself it forgets nothing.
  there = await createTestInstance({ database: home.connect(), elapsed: () => 0 });
});
afterAll(async () => {
  await Promise.all([here?.close(), there?.close()]);
  await executionStore?.close();
  await home?.close();
});
beforeEach(async () => {
  ada = await createTestUser(here);
  id = (await call(ada, "POST", "/organizations", { name: "Quantum Lab" }, null)).json().id;
});

type Method = Parameters<typeof send>[1];

/** Calls in the organisation `of`; null: in the user's own. */
function call(user: TestUser, method: Method, path: string, payload?: object, of: string | null = id) {
  return callAt(here, user, method, path, { of, ...(payload === undefined ? {} : { payload }) });
}

function callAt(
  instance: TestInstance,
  { token }: TestUser,
  method: Method,
  path: string,
  { of = id, payload }: { readonly of?: string | null; readonly payload?: object } = {},
) {
  const headers = { "x-auth-token": token, ...(of === null ? {} : { "x-organizationid": of }) };
  return send(instance, method, path, { headers, ...(payload === undefined ? {} : { payload }) });
}

const join = (role: "viewer" | "maintainer" | "owner") => createTestMember(here, id, role);

async function listRoles() {
  const { items }: { items: { userId: string; role: string }[] } = (
    await call(ada, "GET", "/members")
  ).json();
  return new Map(items.map(({ userId, role }) => [userId, role]));
}

describe("an organisation", () => {
  test("belongs to who creates it, and has the slug that they choose", async () => {
    const slug = `lab-${randomUUID().slice(0, 8)}`;
    const created = await call(ada, "POST", "/organizations", { name: "Lab", slug });
    expect(created.statusCode).toBe(201);
    const body = created.json();
    expect(body).toMatchObject({ name: "Lab", slug, role: "owner", isPersonal: false });
    expect(created.headers["location"]).toBe(`/api/organizations/${body.id}`);
    const read = await call(ada, "GET", `/organizations/${body.id}`, undefined, body.id);
    expect(read.json()).toEqual(body);
    const again = await call(ada, "POST", "/organizations", { name: "Another", slug });
    expect(again.json()).toMatchObject({ code: "CONFLICT", errors: [{ path: "/slug" }] });
  });

  test.each([
    ["letters of another script that look the same", { slug: "l\u0430b" }],
    ["upper case", { slug: "Lab" }],
    ["hyphens as of an encoded name", { slug: "xn--lb-6ka" }],
    ["a slug that is too long", { slug: "a".repeat(61) }],
    ["a name that is too long", { name: "a".repeat(121) }],
    ["a blank name", { name: " " }],
    ["an id", { id: randomUUID() }],
    ["an owner", { personalOf: randomUUID() }],
    ["a role", { role: "owner" }],
  ])("is refused with %s", async (_what, more) => {
    for (const [method, path] of [
      ["POST", "/organizations"],
      ["PUT", `/organizations/${id}`],
    ] as const) {
      const refused = await call(ada, method, path, { name: "Lab", ...more });
      expect([refused.statusCode, refused.json().code]).toEqual([400, "INVALID_INPUT"]);
    }
  });

  test("is found by a part of its name, whatever its case, among the user's own", async () => {
    const other = await createTestUser(here);
    await call(other, "POST", "/organizations", { name: "Quantum Lab of others" }, null);
    const find = async (q: string) => {
      const { items } = (await call(ada, "GET", `/organizations?q=${encodeURIComponent(q)}`)).json<{
        items: readonly { name: string }[];
      }>();
      return items.map(({ name }) => name);
    };
    expect(await find("UM la")).toEqual(["Quantum Lab"]);
    expect(await find("of others")).toEqual([]);
    expect(await find("%")).toEqual([]);
    expect(await find("")).toHaveLength(2);
  });

  test("is renamed everywhere as soon as it is notified", async () => {
    expect((await callAt(there, ada, "GET", `/organizations/${id}`)).json().name).toBe("Quantum Lab");
    const slug = `new-${randomUUID().slice(0, 8)}`;
    const renamed = await call(ada, "PUT", `/organizations/${id}`, { name: "New", slug });
    expect(renamed.json()).toMatchObject({ id, name: "New", slug });
    await waitUntil(
      async () => (await callAt(there, ada, "GET", `/organizations/${id}`)).json().slug === slug,
    );
    expect((await call(ada, "PUT", `/organizations/${id}`, { name: "Newer" })).json().slug).toBe(slug);
  });

  test("is named in the path and the header alike, so that no role of another one counts", async () => {
    const other = await createTestUser(here);
    await here.identity.addMember(other.organisationId, ada.userId, "viewer");
    for (const [method, payload] of [
      ["GET", undefined],
      ["PUT", { name: "Mine" }],
      ["DELETE", undefined],
    ] as const) {
      const refused = await call(ada, method, `/organizations/${other.organisationId}`, payload);
      expect(refused.json()).toMatchObject({ code: "NOT_FOUND" });
    }
    expect((await here.identity.findMembership(other.userId))?.organisationName).toBe("Somebody");
  });

  test("is one of at most 50 of which a user is owner", async () => {
    await home.database.query({
      text: `with made as (
          insert into organisation (id, name, slug) select gen_random_uuid(), 'x', gen_random_uuid()::text
          from generate_series(1, 48) returning id
        ) insert into member (organisation_id, user_id, role) select id, $1, 'owner' from made`,
      values: [ada.userId],
    });
    const answers = await Promise.all(
      [1, 2, 3].map(() => call(ada, "POST", "/organizations", { name: "Lab" })),
    );
    expect(answers.filter(({ statusCode }) => statusCode === 429)).toHaveLength(2);
  });
});

const WAITING =
  "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";

describe("a deleted organisation", () => {
  test("is gone for its members everywhere, and its keys, subscriptions and versions end", async () => {
    const member = await join("maintainer");
    const owner = { ...ada, organisationId: id };
    const service = await createTestService(here, owner);
    const client = await createTestClient(here, owner, service);
    const invitation = (await call(ada, "POST", "/invitations", { role: "viewer" })).json();
    for (const path of ["/secrets/A", "/variables/B", `/services/${service.serviceKey}/secrets/C`])
      expect((await call(ada, "PUT", path, { value: "no longer needed" })).statusCode).toBe(200);
    expect((await callAt(there, member, "GET", "/services")).statusCode).toBe(200);

    const deleted = await call(ada, "DELETE", `/organizations/${id}`);
    expect([deleted.statusCode, deleted.body]).toEqual([204, ""]);
    expect((await call(ada, "GET", "/services")).json().code).toBe("FORBIDDEN");
    await waitUntil(async () => (await callAt(there, member, "GET", "/services")).statusCode === 403);
    expect(await here.stores.access.findGrant({ ...client, ...service })).toEqual({
      granted: false,
      reason: "APPLICATION_DELETED",
    });
    expect(await here.stores.subscriptions.find(id, client.subscriptionId)).toBeNull();
    expect(await here.stores.accessKeys.countActive(id, client.applicationId)).toBe(0);
    expect((await here.stores.versions.find(id, service.serviceKey, "1.0.0"))?.retiredAt).not.toBeNull();
    expect(await here.stores.variables.readOfService(service.serviceKey)).toEqual([]);
    const link = await send(here, "GET", `/invitations/${invitation.url.split("/").at(-1)}`);
    expect(link.json().code).toBe("LINK_EXPIRED");
    expect((await call(ada, "GET", "/me", undefined, null)).json().organizations).toMatchObject([
      { isPersonal: true },
    ]);
  });

  test("had no unfinished executions: they are cancelled first", async () => {
    const service = await createTestService(here, { ...ada, organisationId: id });
    const job = await call(ada, "POST", `/jobs?serviceKey=${service.serviceKey}`, {});
    const refused = await call(ada, "DELETE", `/organizations/${id}`);
    expect(refused.json()).toEqual({
      code: "CONFLICT",
      detail: "The organisation has 1 unfinished execution; it can be deleted when there are none.",
    });
    expect((await call(ada, "PUT", `/jobs/${job.json().id}/cancel`)).json().status).toBe("FAILED");
    expect((await call(ada, "DELETE", `/organizations/${id}`)).statusCode).toBe(204);
  });

  test("had no service to which others subscribe", async () => {
    const service = await createTestService(here, { ...ada, organisationId: id });
    const other = await createTestUser(here);
    const client = await createTestClient(here, other, await createTestService(here, other));
    await home.database.query({
      text: "insert into subscription (id, application_id, service_key) values ($1, $2, $3)",
      values: [randomUUID(), client.applicationId, service.serviceKey],
    });
    const refused = await call(ada, "DELETE", `/organizations/${id}`);
    expect(refused.json().detail).toContain("1 subscription of other organisations to its services");
  });

  test("had ended the subscriptions of others, and nothing that they have started is unfinished", async () => {
    const service = await createTestService(here, { ...ada, organisationId: id });
    const other = await createTestUser(here);
    await createTestPlan(here, { ...ada, organisationId: id }, service);
    await call(ada, "POST", `/services/${service.serviceKey}/publish`, { scope: "marketplace" });
    const client = await createTestClient(here, other, service);
    const subscription = `/subscriptions/${client.subscriptionId}`;
    const callOther = (method: Method, path: string, payload?: object) =>
      call(other, method, path, payload, null);
    const execution = await callOther("POST", `${subscription}/executions`, {});
    const end = `/services/${service.serviceKey}${subscription}/end`;
    expect((await call(ada, "POST", end, { reason: "Closed" })).statusCode).toBe(204);
    const refused = await call(ada, "DELETE", `/organizations/${id}`);
    expect(refused.json().detail).toContain("1 subscription of other organisations to its services");
    const ids = [execution.json().id];
    expect((await callOther("POST", "/executions/cancel", { ids })).json()).toMatchObject({ cancelled: 1 });
    expect((await call(ada, "DELETE", `/organizations/${id}`)).statusCode).toBe(204);
    expect((await callOther("GET", subscription)).json()).toMatchObject({
      status: "ENDED",
      endReason: "Closed",
    });
  });

  test.each([
    ["service", "POST", "/services", { name: "late" }],
    ["application", "POST", "/applications", { name: "late" }],
    ["data pool", "POST", "/data-pools", { name: "late" }],
    ["invitation", "POST", "/invitations", { role: "viewer" }],
  ] as const)(
    "gets no %s from a request that has waited for the deletion: nothing would remove it any more",
    async (kind, method, path, body) => {
      const client = await home.database.pool.connect();
      try {
        await client.query("begin");
        await client.query("update organisation set deleted_at = now() where id = $1", [id]);
        const making = call(ada, method, path, body);
        await waitUntil(async () => (await home.database.query({ text: WAITING })).length > 0);
        await client.query("commit");
        const { statusCode, body: text } = await making;
        expect([statusCode, JSON.parse(text).code]).toEqual([403, "FORBIDDEN"]);
      } finally {
        client.release();
      }
      const table = kind.replace(" ", "_");
      const made = await home.database.query({
        text: `select 1 from ${table} where organisation_id = $1`,
        values: [id],
      });
      expect(made).toEqual([]);
    },
  );

  test("was no user's own", async () => {
    const refused = await call(ada, "DELETE", `/organizations/${ada.organisationId}`, undefined, null);
    expect(refused.json()).toMatchObject({ code: "CONFLICT", detail: expect.stringContaining("own") });
  });
});

describe("a member", () => {
  test("is listed with role, and when they joined and were last seen", async () => {
    const member = await join("viewer");
    const time = expect.stringMatching(/^20\d\d-\d\d-\d\d \d\d:\d\d:\d\d$/u);
    const before = (await call(ada, "GET", "/members")).json();
    expect(before.items).toMatchObject([
      { userId: ada.userId, email: ada.email, role: "owner", joinedAt: time, lastSeenAt: time },
      { userId: member.userId, role: "viewer", joinedAt: time, lastSeenAt: null },
    ]);
    await callAt(there, member, "GET", "/services");
    const [, seen] = (await call(member, "GET", "/members")).json().items;
    expect(seen.lastSeenAt).toEqual(time);
  });

  test("has a new role, and none of the former rights, everywhere as soon as it is notified", async () => {
    const member = await join("maintainer");
    const create = (name: string) => callAt(there, member, "POST", "/applications", { payload: { name } });
    expect((await create("before")).statusCode).toBe(201);
    const changed = await call(ada, "PUT", `/members/${member.userId}`, { role: "viewer" });
    expect(changed.json()).toMatchObject({ userId: member.userId, role: "viewer" });
    await waitUntil(async () => (await create("after")).statusCode === 403);
  });

  test("who is removed, or leaves, is none any more everywhere as soon as it is notified", async () => {
    const [removed, leaving] = [await join("viewer"), await join("viewer")];
    for (const member of [removed, leaving])
      expect((await callAt(there, member, "GET", "/services")).statusCode).toBe(200);
    expect((await call(ada, "DELETE", `/members/${removed.userId}`)).statusCode).toBe(204);
    expect((await call(leaving, "DELETE", "/members/me")).statusCode).toBe(204);
    for (const member of [removed, leaving]) {
      expect((await call(member, "GET", "/services")).statusCode).toBe(403);
      await waitUntil(async () => (await callAt(there, member, "GET", "/services")).statusCode === 403);
    }
    expect((await call(ada, "DELETE", `/members/${removed.userId}`)).json().code).toBe("NOT_FOUND");
  });

  test("cannot get a role that there is not, nor anything but a role", async () => {
    const member = await join("viewer");
    for (const body of [{ role: "operator" }, { role: "owner", userId: ada.userId }, {}]) {
      const refused = await call(ada, "PUT", `/members/${member.userId}`, body);
      expect(refused.json().code).toBe("INVALID_INPUT");
    }
    expect((await listRoles()).get(member.userId)).toBe("viewer");
  });

  test("cannot be changed by an owner who is none any more, but was remembered as one", async () => {
    const [former, member] = [await join("owner"), await join("viewer")];
    await call(ada, "PUT", `/members/${former.userId}`, { role: "maintainer" });
    const change = { organisationId: id, by: former.userId, userId: member.userId };
    const refusal = expect.objectContaining({ code: "FORBIDDEN" });
    await expect(here.identity.changeRole({ ...change, role: "owner" })).rejects.toEqual(refusal);
    await expect(here.identity.removeMember(change)).rejects.toEqual(refusal);
    await expect(here.identity.deleteOrganisation(id, former.userId)).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
  });
});

describe("the last owner", () => {
  test("cannot leave, be removed or get another role", async () => {
    await join("maintainer");
    const answers = [
      await call(ada, "DELETE", "/members/me"),
      await call(ada, "DELETE", `/members/${ada.userId}`),
      await call(ada, "PUT", `/members/${ada.userId}`, { role: "viewer" }),
    ];
    expect(answers.map((answer) => answer.json().code)).toEqual(["LAST_OWNER", "LAST_OWNER", "LAST_OWNER"]);
    expect((await listRoles()).get(ada.userId)).toBe("owner");
  });

  test("is the last one also when the other owner is disabled", async () => {
    const other = await join("owner");
    await home.database.query({
      text: "update platform_user set disabled_at = now() where id = $1",
      values: [other.userId],
    });
    expect((await call(ada, "DELETE", "/members/me")).json().code).toBe("LAST_OWNER");
  });

  test.each([
    ["leave", (user: TestUser) => call(user, "DELETE", "/members/me")],
    ["step down", (user: TestUser) => call(user, "PUT", `/members/${user.userId}`, { role: "viewer" })],
  ])("of two who %s at once stays", async (_what, go) => {
    const second = await join("owner");
    // Notes that they were seen, which is a write as well.
    await call(second, "GET", "/members");
    const rows = { text: "select 1 from member where organisation_id = $1 for update", values: [id] };
    const both = await startAtOnce(home, rows, () => [go(ada), go(second)]);
    const statuses = both.map(({ statusCode }) => statusCode);
    expect(statuses.filter((status) => status === 409)).toHaveLength(1);
    const owners = await home.database.query({
      text: "select 1 from member where organisation_id = $1 and role = 'owner'",
      values: [id],
    });
    expect(owners).toHaveLength(1);
  });

  test("of a user's own organisation is that user, even where there are other owners", async () => {
    const own = ada.organisationId;
    const other = await createTestMember(here, own, "owner");
    const answers = [
      await call(other, "DELETE", `/members/${ada.userId}`, undefined, own),
      await call(other, "PUT", `/members/${ada.userId}`, { role: "viewer" }, own),
      await call(ada, "DELETE", "/members/me", undefined, own),
    ];
    expect(answers.map((answer) => answer.json().code)).toEqual(["CONFLICT", "CONFLICT", "CONFLICT"]);
  });
});
