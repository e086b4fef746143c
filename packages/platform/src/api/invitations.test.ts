import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createMailer } from "../accounts/mailer.ts";
import { send } from "../testing/browser.ts";
import { createTestMember, createTestUser } from "../testing/fixtures.ts";
import type { TestUser } from "../testing/fixtures.ts";
import { startAtOnce } from "../testing/held-lock.ts";
import { TEST_API_URL, createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { startMailServer } from "../testing/mail-server.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";

let home: TestDatabase;
let here: TestInstance;
let owner: TestUser;
let guest: TestUser;

beforeAll(async () => {
  home = await createTestDatabase();
  here = await createTestInstance({ database: home.database });
});
afterAll(async () => {
  await here?.close();
  await home?.close();
});
beforeEach(async () => {
  owner = await createTestUser(here);
  guest = await createTestUser(here);
});

const as = ({ token }: TestUser, organisationId?: string) => ({
  "x-auth-token": token,
  ...(organisationId === undefined ? {} : { "x-organizationid": organisationId }),
});

function invite(payload: object = {}, { by = owner, organisationId = owner.organisationId, at = here } = {}) {
  const headers = as(by, organisationId);
  return send(at, "POST", "/invitations", { headers, payload: { role: "viewer", ...payload } });
}

/** Returns id and token of a new invitation. */
async function makeLink(payload: object = {}): Promise<{ id: string; token: string }> {
  const { id, url }: { id: string; url: string } = (await invite(payload)).json();
  return { id, token: url.slice(`${TEST_API_URL}/invitations/`.length) };
}

const accept = (user: TestUser, token: string) =>
  send(here, "POST", `/invitations/${token}/accept`, { headers: as(user) });

async function readRole(user: TestUser) {
  return (await here.identity.findMembership(user.userId, owner.organisationId))?.role ?? null;
}

const age = (id: string, change: string) =>
  home.database.query({ text: `update invitation set ${change} where id = $1`, values: [id] });

describe("an invitation", () => {
  test("makes who opens its link a member, once", async () => {
    const { token } = await makeLink({ role: "maintainer" });
    expect((await send(here, "GET", `/invitations/${token}`)).json()).toEqual({
      organizationName: "Somebody",
      role: "maintainer",
      invitedBy: "Somebody",
      expiresAt: expect.stringMatching(/^20\d\d-/u),
    });
    const accepted = await accept(guest, token);
    expect([accepted.statusCode, accepted.json()]).toMatchObject([
      200,
      { id: owner.organisationId, role: "maintainer", isPersonal: false },
    ]);
    expect(await readRole(guest)).toBe("maintainer");
    const thief = await createTestUser(here);
    expect((await accept(thief, token)).json().code).toBe("LINK_EXPIRED");
    expect((await send(here, "GET", `/invitations/${token}`)).json().code).toBe("LINK_EXPIRED");
    expect(await readRole(thief)).toBeNull();
  });

  test("opens for one of two who accept it at once", async () => {
    const { id, token } = await makeLink();
    const row = { text: "select 1 from invitation where id = $1 for update", values: [id] };
    const rival = await createTestUser(here);
    const both = await startAtOnce(home, row, () => [accept(guest, token), accept(rival, token)]);
    const statuses = both.map(({ statusCode }) => statusCode);
    expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 410]);
  });

  test("with an address is for the user with this address only", async () => {
    const { token } = await makeLink({ email: guest.email.toUpperCase() });
    const thief = await createTestUser(here);
    const refused = await accept(thief, token);
    expect([refused.statusCode, refused.json().code]).toEqual([403, "FORBIDDEN"]);
    expect(refused.body + (await send(here, "GET", `/invitations/${token}`)).body).not.toContain(guest.email);
    expect((await accept(guest, token)).statusCode).toBe(200);
  });

  test.each([
    ["has expired", "expires_at = now() - interval '1 second'"],
    ["was revoked", "revoked_at = now()"],
  ])("that %s opens nothing, and is not listed", async (_what, change) => {
    const { id, token } = await makeLink();
    await age(id, change);
    expect((await accept(guest, token)).json().code).toBe("LINK_EXPIRED");
    const listed = await send(here, "GET", "/invitations", { headers: as(owner) });
    expect(listed.json()).toEqual({ items: [], nextCursor: null });
  });

  test("is looked at by one client sixty times at once, not more; by others all the same", async () => {
    const { token } = await makeLink();
    const look = async (client: string) =>
      (await send(here, "GET", `/invitations/${token}`, { headers: { "x-forwarded-for": client } }))
        .statusCode;
    const statuses = await Promise.all(Array.from({ length: 75 }, () => look("203.0.113.9")));
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(60);
    expect(await look("203.0.113.10")).toBe(200);
  });

  test("is listed without its link, and revoked by its organisation only", async () => {
    const { id, token } = await makeLink({ email: "new@example.org", role: "owner", expiresInDays: 30 });
    const listed = await send(here, "GET", "/invitations", { headers: as(owner) });
    expect(listed.json().items).toMatchObject([
      { id, email: "new@example.org", role: "owner", invitedBy: "Somebody" },
    ]);
    expect(listed.body).not.toContain(token);
    const foreign = await send(here, "DELETE", `/invitations/${id}`, { headers: as(guest) });
    expect(foreign.json().code).toBe("NOT_FOUND");
    const revoked = await send(here, "DELETE", `/invitations/${id}`, { headers: as(owner) });
    expect(revoked.statusCode).toBe(204);
    expect((await accept(guest, token)).json().code).toBe("LINK_EXPIRED");
  });

  test("is declined with its link alone: it opens nothing any more, and its organisation reads so", async () => {
    const { id, token } = await makeLink({ email: guest.email });
    const decline = () => send(here, "POST", `/invitations/${token}/decline`);
    expect((await decline()).statusCode).toBe(204);
    for (const answer of [await decline(), await accept(guest, token)])
      expect(answer.json().code).toBe("LINK_EXPIRED");
    expect((await send(here, "GET", `/invitations/${token}`)).json().code).toBe("LINK_EXPIRED");
    expect(await readRole(guest)).toBeNull();
    const list = async () => (await send(here, "GET", "/invitations", { headers: as(owner) })).json().items;
    expect(await list()).toMatchObject([{ id, declinedAt: expect.stringMatching(/^20\d\d-/u) }]);

    const url = "/audit-events?action=invitation.decline";
    const events = await send(here, "GET", url, { headers: as(owner) });
    expect(events.json().items).toMatchObject([
      { actor: { id: null, credential: null }, target: { path: id }, outcome: "done" },
    ]);
    expect(events.body).not.toContain(token);

    const revoke = () => send(here, "DELETE", `/invitations/${id}`, { headers: as(owner) });
    expect((await revoke()).statusCode).toBe(204);
    expect(await list()).toEqual([]);
    expect((await revoke()).statusCode).toBe(404);
  });

  test("that is declined while it is accepted makes a member, or was declined, and not both", async () => {
    const { id, token } = await makeLink();
    const row = { text: "select 1 from invitation where id = $1 for update", values: [id] };
    const [declined, accepted] = await startAtOnce(home, row, () => [
      send(here, "POST", `/invitations/${token}/decline`),
      accept(guest, token),
    ]);
    const statuses = `${declined?.statusCode} ${accepted?.statusCode}`;
    expect(["204 410", "410 200"]).toContain(statuses);
    expect(await readRole(guest)).toBe(statuses === "410 200" ? "viewer" : null);
  });

  test("that was declined is listed until it would have expired", async () => {
    const { id, token } = await makeLink();
    await send(here, "POST", `/invitations/${token}/decline`);
    await age(id, "expires_at = now() - interval '1 second'");
    const listed = await send(here, "GET", "/invitations", { headers: as(owner) });
    expect(listed.json().items).toEqual([]);
  });

  test("is not declined with a link that there is not", async () => {
    for (const token of ["x".repeat(43), "no-token"])
      expect((await send(here, "POST", `/invitations/${token}/decline`)).statusCode).toBe(404);
  });

  test("is stored as a hash", async () => {
    const { id, token } = await makeLink();
    const [row] = await home.database.query<{ all: string }>({
      text: "select to_jsonb(i)::text as all from invitation i where id = $1",
      values: [id],
    });
    expect(row?.all).not.toContain(token);
  });

  test.each([
    ["is no owner any more", "update member set role = 'maintainer' where user_id = $1"],
    ["is no member any more", "delete from member where user_id = $1 and organisation_id = $2"],
    ["is disabled", "update platform_user set disabled_at = now() where id = $1"],
  ])("opens nothing when who made it %s", async (_what, text) => {
    const inviter = await createTestMember(here, owner.organisationId, "owner");
    const { url }: { url: string } = (await invite({ role: "owner" }, { by: inviter })).json();
    const values = text.includes("$2") ? [inviter.userId, owner.organisationId] : [inviter.userId];
    await home.database.query({ text, values });
    expect((await accept(guest, url.split("/").at(-1) ?? "")).json().code).toBe("LINK_EXPIRED");
    expect(await readRole(guest)).toBeNull();
  });

  test("is not made by an owner who is none any more, but was remembered as one", async () => {
    const former = await createTestMember(here, owner.organisationId, "maintainer");
    const wish = { organisationId: owner.organisationId, invitedBy: former.userId, role: "owner" } as const;
    await expect(here.identity.createInvitation(wish)).rejects.toMatchObject({ code: "FORBIDDEN" });
  });

  test("changes no role of who is a member already, and stays open", async () => {
    const member = await createTestMember(here, owner.organisationId, "viewer");
    const { token } = await makeLink({ role: "owner" });
    expect((await accept(member, token)).json().code).toBe("CONFLICT");
    expect(await readRole(member)).toBe("viewer");
    expect((await accept(guest, token)).statusCode).toBe(200);
    expect((await invite({ email: member.email })).json().code).toBe("CONFLICT");
  });

  test.each([
    ["no role", { role: undefined }],
    ["a role that there is not", { role: "operator" }],
    ["no address", { email: "nobody" }],
    ["a header in its address", { email: "a@example.org\r\nBcc: b@example.org" }],
    ["a second address", { email: "a@example.org,b@example.org" }],
    ["an organisation", { organisationId: "00000000-0000-7000-8000-000000000000" }],
    ["a life of 31 days", { expiresInDays: 31 }],
  ])("is refused with %s", async (_what, body) => {
    expect((await invite(body)).json().code).toBe("INVALID_INPUT");
  });

  test("is one of at most 200 that are open", async () => {
    await home.database.query({
      text: `insert into invitation (id, organisation_id, role, token_hash, invited_by, expires_at)
        select gen_random_uuid(), $1, 'viewer', gen_random_uuid()::text, $2, now() + interval '1 day'
        from generate_series(1, 200)`,
      values: [owner.organisationId, owner.userId],
    });
    expect((await invite()).json().code).toBe("QUOTA_EXCEEDED");
  });

  test("to one address goes by mail five times, however many organisations who invites makes for it", async () => {
    const mail = await startMailServer();
    const mailer = createMailer({ smtpUrl: mail.url, from: "platform@example.org" }, home.logger);
    const at = await createTestInstance({ database: home.database, mailer });
    try {
      for (let sent = 0; sent < 6; sent++) {
        const made = await send(at, "POST", "/organizations", {
          headers: as(owner),
          payload: { name: "Lab" },
        });
        const { id: organisationId } = made.json();
        const answer = await invite({ email: guest.email }, { organisationId, at });
        expect(answer.json()).toMatchObject(sent < 5 ? { role: "viewer" } : { code: "RATE_LIMITED" });
        await send(at, "DELETE", `/organizations/${organisationId}`, { headers: as(owner, organisationId) });
      }
    } finally {
      await Promise.all([at.close(), mail.close()]);
    }
  });
});
