import pino from "pino";
import { describe, expect, test } from "vitest";
import { PLATFORM_API } from "@platform/contract/platform-api/platform-api";
import { Problem } from "@platform/contract/problems";
import { registerOperations } from "@platform/engine/http/pipeline";
import { createHttpServer } from "@platform/engine/http/server";
import { useAuditScene } from "../testing/audit-scene.ts";
import { PROOF } from "../testing/browser.ts";
import { createTestMember, createTestUser } from "../testing/fixtures.ts";
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
