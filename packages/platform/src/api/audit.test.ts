import { describe, expect, test } from "vitest";
import type { Operation } from "@platform/contract/operation";
import { PLATFORM_API } from "@platform/contract/platform-api/platform-api";
import type { AuditEvent } from "@platform/contract/platform-api/audit";
import { useAuditScene } from "../testing/audit-scene.ts";
import { PROOF } from "../testing/browser.ts";
import { createTestMember, createTestUser } from "../testing/fixtures.ts";
import type { TestUser } from "../testing/fixtures.ts";
import { createProperty, ownParams } from "../testing/operation-calls.ts";
import type { Property } from "../testing/operation-calls.ts";

const AUDITED: readonly (readonly [string, Operation])[] = Object.entries<Operation>(PLATFORM_API).filter(
  // Those of operators: operator-accounts.test.ts.
  ([, { audit, allows }]) => audit !== null && allows !== "operator",
);

/** Operations that the sample call of these tests does not get to succeed. */
const WITHOUT_SAMPLE = new Set([
  "createVersion",
  "changePassword",
  // Nobody is known yet, and so no organisation whose log it could be in.
  "startDeviceLogin",
  "finishDeviceLogin",
  "signOut",
  "deleteOrganization",
  // The service of the sample has a version: delete-service.test.ts.
  "deleteService",
  "putMember",
  "removeMember",
  "leaveOrganization",
  "acceptInvitation",
  // Whoever has a link needs no name: invitations.test.ts.
  "declineInvitation",
  // It takes a provider: external-sign-in.test.ts.
  "startExternalSignIn",
  "finishExternalSignIn",
  // Their users and links are made in sign-up.test.ts.
  "signUp",
  "requestPasswordReset",
  "resetPassword",
  "verifyEmail",
  // Executions are in memory here, and there is none to cancel in PostgreSQL: execution-actions.test.ts.
  "cancelExecutions",
]);

/** In PostgreSQL the entry is written with the change (cancel.test.ts); these tests keep executions in memory. */
const WRITTEN_LATE = new Set(["cancelJob"]);

/** The entry of a new organisation stands in its own log. */
const ELSEWHERE = new Set(["createOrganization"]);

const SAMPLED = AUDITED.filter(([id]) => !WITHOUT_SAMPLE.has(id));
/** An execution is its own entry. */
const STARTS = new Set(["startJob", "startJobBatch", "startSubscriptionExecution"]);
const WRITTEN = SAMPLED.filter(([id]) => !STARTS.has(id));

const scene = useAuditScene();
const { listEvents, callAs } = scene;

/** The application of the property can subscribe again. */
async function unsubscribe({ owner, params }: Property): Promise<void> {
  await scene.instance.stores.subscriptions.cancel(
    owner.organisationId,
    params["subscriptions"]?.["id"] ?? "",
  );
}

/** All that operations change; what is only noted about use is left out. */
async function readEverything(): Promise<unknown> {
  const tables = [
    "application",
    "service",
    "version",
    "build",
    "subscription",
    "plan",
    "listing",
    "invitation",
    "organisation",
  ];
  const whole = tables.map((name) => `select '${name}' as of, to_jsonb(t) as row from ${name} t`);
  const { rows } = await scene.server.database.pool.query(
    [
      ...whole,
      "select 'key', to_jsonb(t) - 'last_used_at' from access_key t",
      "select 'token', to_jsonb(t) - 'last_used_at' from personal_access_token t",
      "select 'session', to_jsonb(t) - 'last_seen_at' - 'expires_at' from session t",
      "select 'user', to_jsonb(t) from platform_user t",
      "select 'member', to_jsonb(t) - 'last_seen_at' from member t",
    ].join(" union all ") + " order by 1, 2",
  );
  return rows;
}

/** Calls the operation for a new organisation; what it left in the log, and how it was answered. */
async function callOnce(id: string, operation: Operation) {
  const property = await createProperty(scene.instance);
  const { owner } = property;
  if (id === "createSubscription") await unsubscribe(property);
  // The call may end the owner's own token.
  const reader = await createTestMember(scene.instance, owner.organisationId, "owner");
  const before = await listEvents(reader, owner);
  const response = await callAs(owner, property, id, operation);
  expect(response.statusCode).toBeLessThan(300);
  const after = await listEvents(reader, owner);
  return { property, response, events: after.slice(0, after.length - before.length) };
}

test.each(WRITTEN.filter(([id]) => !ELSEWHERE.has(id)))(
  "%s leaves one entry that says who, what and from where",
  async (id, operation) => {
    const { property, events } = await callOnce(id, operation);
    const { owner } = property;
    expect(events).toMatchObject([
      {
        actor: { kind: "user", id: owner.userId, name: owner.email },
        action: operation.audit,
        outcome: "done",
        code: null,
        ip: "127.0.0.1",
      },
    ]);
    const [event] = events;
    const ids = event?.target.path?.split("/") ?? [];
    expect(ids).toEqual(expect.arrayContaining(Object.values(ownParams(property, operation))));
    const isNew = operation.audit?.endsWith(".create") === true;
    expect(ids.length - Object.keys(ownParams(property, operation)).length).toBe(isNew ? 1 : 0);
  },
);

test("createOrganization leaves its entry in the log of the new organisation", async () => {
  const { property, response, events } = await callOnce(
    "createOrganization",
    PLATFORM_API.createOrganization,
  );
  const { id: organisationId } = response.json<{ id: string }>();
  const made = await listEvents(property.owner, { ...property.owner, organisationId });
  expect(made.map(({ action, target }) => [action, target.path])).toEqual([
    ["organization.create", organisationId],
  ]);
  expect(events).toEqual([]);
});

test("a start within a minute of another one leaves no entry: it is an execution itself", async () => {
  expect((await callOnce("startJob", PLATFORM_API.startJob)).events).toEqual([]);
});

/** What an operation changes, and how it answers, while no entry can be written. */
async function callWithoutLog(id: string, operation: Operation) {
  const property = await createProperty(scene.instance);
  if (id === "createSubscription") await unsubscribe(property);
  // What the first use of a token or session notes is not the operation's.
  await listEvents(property.owner);
  const before = await readEverything();
  await scene.server.database.query({ text: "alter function append_audit_entry rename to hidden" });
  try {
    const { statusCode } = await callAs(property.owner, property, id, operation);
    return { statusCode, before, after: await readEverything() };
  } finally {
    await scene.server.database.query({ text: "alter function hidden rename to append_audit_entry" });
  }
}

test.each(WRITTEN.filter(([id]) => !WRITTEN_LATE.has(id)))(
  "%s changes nothing when its entry cannot be written",
  async (id, operation) => {
    const { statusCode, before, after } = await callWithoutLog(id, operation);
    expect(statusCode).toBe(500);
    expect(after).toEqual(before);
  },
);

test.each(WRITTEN.filter(([id]) => WRITTEN_LATE.has(id)))(
  "%s, which is done before its entry is written, is not answered as if it were undone",
  async (id, operation) => {
    expect((await callWithoutLog(id, operation)).statusCode).toBe(500);
  },
);

test("a changed password and a session that its user ends leave their entries, with the session", async () => {
  const owner = await createTestUser(scene.instance);
  const cookie = async () => {
    const client = { userAgent: "test", ip: "192.0.2.1" };
    return `platform_session=${await scene.instance.identity.createSession(owner.userId, client)}`;
  };
  const headers = { ...PROOF, cookie: await cookie(), "x-forwarded-for": "192.0.2.7" };
  const changed = await scene.instance.api.inject({
    method: "PUT",
    url: "/api/me/password",
    headers,
    payload: { currentPassword: owner.password, newPassword: "another long password" },
  });
  expect(changed.statusCode).toBe(204);
  expect(
    (await scene.instance.api.inject({ method: "DELETE", url: "/api/session", headers })).statusCode,
  ).toBe(204);
  const [end, change] = await listEvents(owner);
  expect(change).toMatchObject({ action: "password.change", ip: "192.0.2.7", target: { id: null } });
  expect(end).toMatchObject({ action: "session.end", actor: { credential: change?.actor.credential } });
  expect(change?.actor.credential).toMatch(/^session:[0-9a-f-]{36}$/u);
});

test("what failed leaves no entry", async () => {
  const property = await createProperty(scene.instance);
  const { owner } = property;
  const before = await listEvents(owner);
  for (const url of ["/api/applications/00000000-0000-7000-8000-000000000000", "/api/applications/x"]) {
    const headers = { authorization: `Bearer ${owner.token}` };
    expect((await scene.instance.api.inject({ method: "DELETE", url, headers })).statusCode).toBe(404);
  }
  expect(await listEvents(owner)).toEqual(before);
});

test("a change that is not committed leaves no entry", async () => {
  const property = await createProperty(scene.instance);
  const { owner } = property;
  const before = await listEvents(owner);
  await scene.server.database.query({
    text: "create function refuse_commit() returns trigger language plpgsql as $$ begin raise 'refused'; end $$",
  });
  await scene.server.database.query({
    text: `create constraint trigger refused after insert on application deferrable initially deferred
      for each row execute function refuse_commit()`,
  });
  try {
    const response = await callAs(owner, property, "createApplication", PLATFORM_API.createApplication);
    expect(response.statusCode).toBe(500);
    expect(await listEvents(owner)).toEqual(before);
  } finally {
    await scene.server.database.query({ text: "drop function refuse_commit() cascade" });
  }
});

test("no secret and no body is in any log", async () => {
  const property = await createProperty(scene.instance);
  const { owner } = property;
  const secrets = [owner.password, "a guessed password", "a new long password", "another long password"];
  // The others need what these two end.
  const ending = new Set(["revokePersonalAccessToken", "deleteApplication"]);
  for (const [id, operation] of AUDITED.filter(([name]) => !ending.has(name))) {
    const response = await callAs(owner, property, id, operation);
    for (const [, secret] of response.body.matchAll(/"(?:secret|token)":"([^"]+)"/gu))
      if (secret !== undefined) secrets.push(secret);
  }
  expect(secrets.length).toBeGreaterThanOrEqual(6);
  const { rows } = await scene.server.database.pool.query<{ text: string }>(
    "select to_jsonb(e)::text as text from audit_entry e",
  );
  const logs = rows.map(({ text }) => text).join("\n");
  for (const secret of [...secrets, "plat_pat_", "mine"]) expect(logs).not.toContain(secret);
});

describe("the list", () => {
  test("is filtered by actor, action, resource and time, and paged", async () => {
    const property = await createProperty(scene.instance);
    const { owner, params } = property;
    const other = await createTestMember(scene.instance, owner.organisationId, "maintainer");
    await callAs(owner, property, "createApplication", PLATFORM_API.createApplication);
    await callAs(other, property, "createApplication", PLATFORM_API.createApplication);
    await callAs(other, property, "revokeAccessKey", PLATFORM_API.revokeAccessKey);
    const listActions = async (query: string) =>
      (await listEvents(owner, owner, query)).map(({ action }) => action);
    expect(await listActions(`actor=${other.userId}`)).toEqual(["access-key.revoke", "application.create"]);
    expect(await listActions(`actor=${other.email}&action=access-key.revoke`)).toEqual(["access-key.revoke"]);
    expect(await listActions("targetType=application")).toEqual(["application.create", "application.create"]);
    const application = params["applications"]?.["id"] ?? "";
    expect(await listActions(`targetId=${application}`)).toEqual(["access-key.revoke"]);
    expect(await listActions("after=2099-01-01 00:00:00")).toEqual([]);
    expect(await listActions("before=2020-01-01 00:00:00")).toEqual([]);
    const read = async (cursor: string) => {
      const url = `/api/audit-events?limit=3${cursor}`;
      const headers = { authorization: `Bearer ${owner.token}` };
      return (await scene.instance.api.inject({ url, headers })).json<{
        items: AuditEvent[];
        nextCursor: string;
      }>();
    };
    const first = await read("");
    const second = await read(`&cursor=${first.nextCursor}`);
    expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(["6", "5", "4", "3", "2", "1"]);
    expect(second.nextCursor).toBeNull();
  });

  test("is the organisation's own, and can be verified", async () => {
    const [property, other] = [await createProperty(scene.instance), await createProperty(scene.instance)];
    await callAs(property.owner, property, "createApplication", PLATFORM_API.createApplication);
    const ids = (await listEvents(other.owner)).map(({ actor }) => actor.id);
    expect(ids).not.toContain(property.owner.userId);
    const url = "/api/audit-events/verification";
    const headers = { authorization: `Bearer ${property.owner.token}` };
    expect((await scene.instance.api.inject({ url, headers })).json()).toEqual({
      checked: (await listEvents(property.owner)).length,
      firstBroken: null,
      nextCursor: null,
    });
  });

  test.each(["cursor=x", "after=yesterday", "limit=0", "actoin=ada", `actor=${"a".repeat(201)}`])(
    "refuses %s",
    async (query) => {
      const owner = await createTestUser(scene.instance);
      const headers = { authorization: `Bearer ${owner.token}` };
      const response = await scene.instance.api.inject({ url: `/api/audit-events?${query}`, headers });
      expect([response.statusCode, response.json()]).toMatchObject([400, { code: "INVALID_INPUT" }]);
    },
  );

  test("says how large a limit may be, whatever number it is", async () => {
    const { token } = await createTestUser(scene.instance);
    const response = await scene.instance.api.inject({
      url: "/api/audit-events?limit=1000000000",
      headers: { authorization: `Bearer ${token}` },
    });
    expect(response.json()).toMatchObject({ errors: [{ path: "/limit", message: "must be <= 100." }] });
  });
});

test("an action that there is not is refused with those that there are, and those that there are list what they have", async () => {
  const owner = await createTestUser(scene.instance);
  const headers = { authorization: `Bearer ${owner.token}` };
  const list = (action: string) =>
    scene.instance.api.inject({ url: `/api/audit-events?action=${action}`, headers });
  const refused = await list("access-key.revok");
  expect([refused.statusCode, refused.json()]).toMatchObject([
    400,
    { code: "INVALID_INPUT", errors: [{ path: "/action" }] },
  ]);
  for (const known of ["access-key.revoke", "access-key.use", "session.forge", "device-login.confirm"]) {
    expect(refused.json<{ detail: string }>().detail).toContain(known);
    expect((await list(known)).statusCode).toBe(200);
  }
});

const role = (before: string | null, after: string | null) =>
  JSON.stringify([{ field: "role", before, after }]);

test("an organisation's log begins with its creation, and tells who came with which role, changed and went", async () => {
  const [owner, guest] = [await createTestUser(scene.instance), await createTestUser(scene.instance)];
  const send = async (user: TestUser, method: "POST" | "PUT" | "DELETE", path: string, payload?: object) => {
    const response = await scene.instance.api.inject({
      method,
      url: `/api${path}`,
      headers: {
        authorization: `Bearer ${user.token}`,
        ...(organisationId === "" ? {} : { "x-organizationid": organisationId }),
      },
      ...(payload === undefined ? {} : { payload }),
    });
    expect(`${path} ${response.statusCode} ${response.body}`).toMatch(/ 20[014] /u);
    return response;
  };
  let organisationId = "";
  const { id } = (await send(owner, "POST", "/organizations", { name: "Lab" })).json<{ id: string }>();
  organisationId = id;
  await send(owner, "PUT", `/organizations/${id}`, { name: "Laboratory" });
  const invited = await send(owner, "POST", "/invitations", { role: "viewer" });
  const { id: invitation, url } = invited.json<{ id: string; url: string }>();
  const link = url.split("/").at(-1) ?? "";
  organisationId = "";
  await send(guest, "POST", `/invitations/${link}/accept`);
  organisationId = id;
  await send(owner, "PUT", `/members/${guest.userId}`, { role: "maintainer" });
  await send(owner, "DELETE", `/members/${guest.userId}`);
  const { rows: former } = await scene.server.database.pool.query(
    "select 1 from audit_entry where organisation_id = $1",
    [id],
  );
  expect(former).toHaveLength(6);
  await send(owner, "DELETE", `/organizations/${id}`);
  const { rows } = await scene.server.database.pool.query<{ entry: string }>(
    `select concat_ws(' ', actor_name, action, target, changes) as entry from audit_entry where organisation_id = $1
      order by sequence`,
    [id],
  );
  expect(rows.map(({ entry }) => entry)).toEqual([
    `${owner.email} organization.create ${id} []`,
    `${owner.email} organization.update ${id} []`,
    `${owner.email} invitation.create ${invitation} ${role(null, "viewer")}`,
    `${guest.email} invitation.accept ${invitation} ${role(null, "viewer")}`,
    `${owner.email} member.update ${guest.userId} ${role("viewer", "maintainer")}`,
    `${owner.email} member.remove ${guest.userId} ${role("maintainer", null)}`,
    `${owner.email} organization.delete ${id} []`,
  ]);
  expect(link.length).toBeGreaterThan(20);
  const { rows: leaks } = await scene.server.database.pool.query(
    "select 1 from audit_entry e where strpos(to_jsonb(e)::text, $1) > 0",
    [link],
  );
  expect(leaks).toEqual([]);
});
