import pino from "pino";
import { describe, expect, test } from "vitest";
import { PLATFORM_API } from "@platform/contract/platform-api/platform-api";
import { Problem } from "@platform/contract/problems";
import { registerOperations } from "@platform/engine/http/pipeline";
import { createHttpServer } from "@platform/engine/http/server";
import { useAuditScene } from "../testing/audit-scene.ts";
import { PROOF, send } from "../testing/browser.ts";
import {
  createTestClient,
  createTestMember,
  createTestService,
  createTestUser,
} from "../testing/fixtures.ts";
import { createProperty } from "../testing/operation-calls.ts";
import { createAuditStage } from "./audit-stage.ts";
import type { PlatformCaller } from "./caller.ts";

const scene = useAuditScene();
const { listEvents, callAs } = scene;

describe("a refused attempt", () => {
  test("of a member is written, once a minute, and stays refused", async () => {
    const property = await createProperty(scene.instance);
    const viewer = await createTestMember(scene.instance, property.owner.organisationId, "viewer");
    const operation = PLATFORM_API.deleteApplication;
    const before = await listEvents(property.owner);
    for (const _ of [1, 2, 3]) {
      const response = await callAs(viewer, property, "deleteApplication", operation);
      expect(response.json()).toMatchObject({ code: "FORBIDDEN" });
    }
    const events = (await listEvents(property.owner)).slice(0, -before.length || undefined);
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({
      actor: { kind: "user", id: viewer.userId, name: viewer.email },
      action: "application.delete",
      target: { id: property.params["applications"]?.["id"] },
      outcome: "refused",
      code: "FORBIDDEN",
    });
  });

  test("of somebody else leaves nothing in an organisation of which they are no member", async () => {
    const property = await createProperty(scene.instance);
    const stranger = await createTestUser(scene.instance);
    const before = await listEvents(property.owner);
    const response = await callAs(stranger, property, "deleteApplication", PLATFORM_API.deleteApplication);
    expect(response.statusCode).toBe(403);
    expect(await listEvents(property.owner)).toEqual(before);
  });

  test("to sign in is written for the user, whose address and not whose password it holds", async () => {
    const owner = await createTestUser(scene.instance);
    const signIn = (email: string) =>
      scene.instance.api.inject({
        method: "POST",
        url: "/api/session",
        headers: { ...PROOF, "x-forwarded-for": "192.0.2.9" },
        payload: { email, password: "a guessed password" },
      });
    expect((await signIn(owner.email.toUpperCase())).statusCode).toBe(401);
    expect((await signIn("nobody@example.org")).statusCode).toBe(401);
    const events = await listEvents(owner);
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({
      actor: { kind: "claimed", id: owner.userId, name: owner.email, credential: null },
      action: "session.create",
      outcome: "refused",
      code: "INVALID_CREDENTIALS",
      ip: "192.0.2.9",
    });
  });
});

const VERSION = {
  version: "1.0.0",
  status: "RETIRED",
  resources: { cpu: 1, memory: 1 },
  timeoutSeconds: 60,
  inputSchema: null,
  createdAt: "2026-11-20 21:17:00",
  retiredAt: "2026-11-20 21:17:00",
} as const;

test("the token of a link is in no entry, not even of who was refused", async () => {
  const [owner, guest] = [await createTestUser(scene.instance), await createTestUser(scene.instance)];
  const headers = { authorization: `Bearer ${owner.token}` };
  const payload = { role: "viewer", email: "somebody-else@example.org" };
  const invited = await scene.instance.api.inject({
    method: "POST",
    url: "/api/invitations",
    headers,
    payload,
  });
  const link = invited.json<{ url: string }>().url.split("/").at(-1) ?? "";
  const refused = await scene.instance.api.inject({
    method: "POST",
    url: `/api/invitations/${link}/accept`,
    headers: { authorization: `Bearer ${guest.token}` },
  });
  expect(refused.statusCode).toBe(403);
  const [event] = await listEvents(guest);
  expect(event).toMatchObject({ action: "invitation.accept", outcome: "refused", target: { path: null } });
});

test("a wrong current password is written for the user, once a minute", async () => {
  const owner = await createTestUser(scene.instance);
  const change = (currentPassword: string, newPassword = "another long password") =>
    send(scene.instance, "PUT", "/me/password", {
      headers: { "x-auth-token": owner.token },
      payload: { currentPassword, newPassword },
    });
  expect((await change(owner.password, "short")).statusCode).toBe(400);
  expect(await listEvents(owner)).toEqual([]);
  for (const _ of [1, 2]) expect((await change("a guess")).json().code).toBe("INVALID_INPUT");
  const events = await listEvents(owner);
  expect(events).toHaveLength(1);
  expect(events[0]).toMatchObject({
    actor: { kind: "user", id: owner.userId },
    action: "password.change",
    outcome: "refused",
    code: "INVALID_INPUT",
  });
});

test("a change that another page sends with a user's cookie is written for the user, once a minute, and nothing that reads", async () => {
  const owner = await createTestUser(scene.instance);
  const cookie = `platform_session=${await scene.instance.identity.createSession(owner.userId, { userAgent: "", ip: "192.0.2.1" })}`;
  const forge = (method: "GET" | "PUT", given = cookie) =>
    send(scene.instance, method, "/me", {
      headers: { cookie: given, "sec-fetch-site": "cross-site" },
      ...(method === "GET" ? {} : { payload: { name: "Eve" } }),
    });
  expect((await forge("GET")).statusCode).toBe(403);
  expect((await forge("PUT", `platform_session=${"A".repeat(43)}`)).statusCode).toBe(403);
  expect(await listEvents(owner)).toEqual([]);
  for (const _ of [1, 2]) expect((await forge("PUT")).json().code).toBe("FORBIDDEN");
  const events = await listEvents(owner);
  expect(events).toHaveLength(1);
  expect(events[0]).toMatchObject({
    actor: { kind: "claimed", id: owner.userId, credential: expect.stringMatching(/^session:/u) },
    action: "session.forge",
    outcome: "refused",
    code: "FORBIDDEN",
  });
});

test("of jobs that a user starts of one service one a minute is written", async () => {
  const owner = await createTestUser(scene.instance);
  const { serviceKey } = await createTestService(scene.instance, owner);
  const start = () =>
    send(scene.instance, "POST", `/jobs?serviceKey=${serviceKey}`, {
      headers: { "x-auth-token": owner.token, "content-type": "application/json" },
      payload: "{}",
    });
  for (const _ of [1, 2, 3]) expect((await start()).statusCode).toBe(201);
  const events = await listEvents(owner);
  expect(events).toHaveLength(1);
  expect(events[0]).toMatchObject({
    actor: { kind: "user", id: owner.userId },
    action: "job.start",
    target: { id: serviceKey },
    outcome: "done",
  });
});

test("a wrong secret of an access key is written for the organisation, once a minute, and unknown keys nowhere", async () => {
  const owner = await createTestUser(scene.instance);
  const service = await createTestService(scene.instance, owner);
  const { applicationId, keyId } = await createTestClient(scene.instance, owner, service);
  const ask = async (id: string) => {
    const { statusCode } = await scene.instance.gateway.inject({
      method: "POST",
      url: "/token",
      headers: {
        "content-type": "application/x-www-form-urlencoded",
        "x-forwarded-for": "192.0.2.77",
        authorization: `Basic ${Buffer.from(`${id}:a guessed secret`).toString("base64")}`,
      },
      payload: "grant_type=client_credentials",
    });
    return statusCode;
  };
  for (const id of ["plat_key_unknown", keyId, keyId]) expect(await ask(id)).toBe(401);
  // The answer does not wait for it.
  await expect.poll(async () => (await listEvents(owner)).length).toBe(1);
  expect((await listEvents(owner))[0]).toMatchObject({
    actor: { kind: "claimed", id: null },
    action: "access-key.use",
    target: { path: `${applicationId}/${keyId}` },
    outcome: "refused",
    ip: "192.0.2.77",
  });
});

test.each([
  ["done", "/1.0.0", async () => ({ status: 200 as const, body: VERSION })],
  ["refused", "", () => Promise.reject(new Problem("FORBIDDEN"))],
])("a parameter that is no id is in no entry of what was %s", async (outcome, rest, handle) => {
  const owner = await createTestUser(scene.instance);
  const { organisationId, userId } = owner;
  const membership = await scene.instance.identity.findMembership(userId);
  if (membership === null) throw new Error("The user has no organisation.");
  const app = createHttpServer({ logger: pino({ level: "silent" }) });
  const table = { retire: { ...PLATFORM_API.retireVersion, path: "/links/{link}/{key}/{version}" } };
  await registerOperations<typeof table, PlatformCaller>(app, table, {
    prefix: "/api",
    authenticate: () => ({
      userId,
      organisationId,
      membership,
      credential: { kind: "session", sessionId: "s" },
      actor: { role: "owner", scopes: null, isOperator: false },
    }),
    authorize: () => undefined,
    audit: createAuditStage(scene.instance.stores.auditLog),
    handlers: { retire: handle },
  });
  await app.inject({ method: "POST", url: `/api/links/pasted-secret/${organisationId}/1.0.0` });
  await app.close();
  const [event] = await listEvents(owner);
  expect([event?.outcome, event?.target.path]).toEqual([outcome, `${organisationId}${rest}`]);
});
