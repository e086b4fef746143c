import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { AuditEvent } from "@platform/contract/platform-api/audit";
import type { DataPool, PoolFile } from "@platform/contract/platform-api/data-pools";
import { createApiCaller } from "../testing/api-calls.ts";
import type { CallApi } from "../testing/api-calls.ts";
import { createTestMember, createTestUser } from "../testing/fixtures.ts";
import type { TestUser } from "../testing/fixtures.ts";
import { startAtOnce } from "../testing/held-lock.ts";
import { MAX_TEST_FILE, TEST_POOL_BYTES, createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";

let home: TestDatabase;
let here: TestInstance;
let call: CallApi;
let owner: TestUser;
/** The owner of another organisation. */
let guest: TestUser;
let pool: string;

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
  [owner, guest] = [await createTestUser(here), await createTestUser(here)];
  pool = await createPool("Maps");
});

const UNKNOWN = "00000000-0000-4000-8000-000000000000";

async function createPool(name: string, by = owner): Promise<string> {
  return String((await call(by, "POST /data-pools", { name })).body["id"]);
}

const share = (role: string, receiver = guest, by = owner) =>
  call(by, `PUT /data-pools/${pool}/shares/${receiver.organisationId}`, { role });
const unshare = (by = owner, receiver = guest) =>
  call(by, `DELETE /data-pools/${pool}/shares/${receiver.organisationId}`);
const grant = (applicationId: string, access: string, by = owner) =>
  call(by, `PUT /data-pools/${pool}/grants/${applicationId}`, { access });
const createApplication = async (by: TestUser) =>
  String((await call(by, "POST /applications", { name: "shop" })).body["id"]);

/** The answer to storing a file. */
async function put(name: string, content: string, by = owner, id = pool) {
  const url = `/api/data-pools/${id}/files/${name}`;
  const headers = { authorization: `Bearer ${by.token}` };
  const response = await here.api.inject({ method: "PUT", url, headers, payload: content });
  return {
    status: response.statusCode,
    body: response.json<PoolFile & { code?: string; detail?: string }>(),
  };
}

async function listItems<T>(path: string, by: TestUser): Promise<readonly T[]> {
  return (await call(by, `GET ${path}`)).body["items"] as readonly T[];
}

const listPools = (by: TestUser) => listItems<DataPool>("/data-pools", by);
const listShares = (by = owner) => listItems<object>(`/data-pools/${pool}/shares`, by);
const listGrants = (by = owner) => listItems<object>(`/data-pools/${pool}/grants`, by);

/** Newest first: action, actor, target. */
async function readLog(of: TestUser, type: string) {
  const events = await listItems<AuditEvent>(`/audit-events?targetType=${type}`, of);
  return events.map(({ action, actor, target, changes }) => [action, actor.id, target.path, changes]);
}

/** Every operation on a pool and a file, with what each is answered by a pool that is shared as viewer. */
const OPERATIONS = [
  ["GET", "", 200],
  ["PUT", "", 403],
  ["DELETE", "", 403],
  ["GET", "/files", 200],
  ["GET", "/files/{file}", 200],
  ["GET", "/files/{file}/content", 200],
  ["PUT", "/files/new.json", 403],
  ["PUT", "/files/{file}/name", 403],
  ["DELETE", "/files/{file}", 403],
  ["GET", "/shares", 200],
  ["PUT", "/shares/{other}", 403],
  ["DELETE", "/shares/{other}", 403],
  ["GET", "/grants", 200],
  ["PUT", "/grants/{application}", 403],
  ["DELETE", "/grants/{application}", 403],
] as const;

/** What only the organisation of the pool may do. */
const OWNERS = OPERATIONS.filter(([method, path]) => method !== "GET" && !path.startsWith("/files"));

const BODIES: Readonly<Record<string, object>> = {
  "": { description: "mine" },
  "/files/{file}/name": { name: "mine.json" },
  "/shares/{other}": { role: "viewer" },
  "/grants/{application}": { access: "read" },
};

/** What the guest is answered of a pool, operation by operation; a file, another organisation and an application are the owner's. */
async function askAll(id: string): Promise<readonly (readonly [number, string])[]> {
  const { body } = await put(`${String(Math.random())}.json`, "{}");
  const application = await createApplication(owner);
  const other = (await createTestUser(here)).organisationId;
  const answers: (readonly [number, string])[] = [];
  for (const [method, path] of OPERATIONS) {
    const { [path]: payload = {} } = BODIES;
    const filled = path
      .replace("{file}", body.fileId)
      .replace("{other}", other)
      .replace("{application}", application);
    const response = await here.api.inject({
      method,
      url: `/api/data-pools/${id}${filled}`,
      headers: { authorization: `Bearer ${guest.token}`, "content-type": "application/json" },
      ...(method === "PUT" ? { payload: JSON.stringify(payload) } : {}),
    });
    answers.push([response.statusCode, response.body]);
  }
  return answers;
}

describe("a data pool that is shared", () => {
  test("is in the list of the other organisation, with whose it is and what may be done", async () => {
    await createPool("atlas", guest);
    await createPool("Maps", guest);
    expect(await share("viewer")).toMatchObject({
      status: 200,
      body: { organizationId: guest.organisationId, organizationName: "Somebody", role: "viewer" },
    });
    const listed = await listPools(guest);
    expect(listed.map(({ name }) => name)).toEqual(["atlas", "Maps", "Maps"]);
    expect(listed.map(({ organizationId, role }) => `${organizationId} ${role}`).toSorted()).toEqual(
      [
        `${guest.organisationId} owner`,
        `${guest.organisationId} owner`,
        `${owner.organisationId} viewer`,
      ].toSorted(),
    );
    const paged: DataPool[] = [];
    for (let cursor = ""; paged.length < listed.length;) {
      const { body } = await call(guest, `GET /data-pools?limit=1${cursor}`);
      paged.push(...(body["items"] as DataPool[]));
      cursor = `&cursor=${body["nextCursor"] as string}`;
    }
    expect(paged).toEqual(listed);
    expect(await listPools(owner)).toMatchObject([{ id: pool, role: "owner" }]);
  });

  test("as viewer is read and not changed; as nothing it is as one that there is not", async () => {
    const unknown = await askAll(UNKNOWN);
    expect(unknown.map(([status]) => status)).toEqual(OPERATIONS.map(() => 404));
    expect(await askAll(pool)).toEqual(unknown);
    await share("viewer");
    expect((await askAll(pool)).map(([status]) => status)).toEqual(OPERATIONS.map(([, , status]) => status));
    expect((await put("new.json", "{}", guest)).body.detail).toMatch(
      /lets your organisation read its files only/u,
    );
    expect((await unshare()).status).toBe(204);
    expect(await askAll(pool)).toEqual(unknown);
    expect(await listPools(guest)).toEqual([]);
  });

  test("as maintainer takes files, which are renamed and deleted; what is the owner's alone is refused", async () => {
    await share("maintainer");
    const stored = await put("theirs.json", "{}", guest);
    expect(stored).toMatchObject({ status: 201, body: { name: "theirs.json", createdBy: "Somebody" } });
    const file = `/data-pools/${pool}/files/${stored.body.fileId}`;
    expect(await call(guest, `PUT ${file}/name`, { name: "new.json" })).toMatchObject({ status: 200 });
    expect((await listItems(`/data-pools/${pool}/files`, owner)).length).toBe(1);
    expect((await call(guest, `DELETE ${file}`)).status).toBe(204);
    const refusals: unknown[] = [];
    for (const [method, path] of OWNERS) {
      const filled = path.replace("{other}", owner.organisationId).replace("{application}", UNKNOWN);
      const body = method === "PUT" ? BODIES[path] : undefined;
      refusals.push((await call(guest, `${method} /data-pools/${pool}${filled}`, body)).body);
    }
    const detail = expect.stringContaining("which alone may do this");
    expect(refusals).toMatchObject(OWNERS.map(() => ({ code: "FORBIDDEN", detail })));
  });

  test("gives its members no more than their own role does", async () => {
    await share("maintainer");
    const member = await createTestMember(here, guest.organisationId, "viewer");
    const headers = {
      authorization: `Bearer ${member.token}`,
      "x-organizationid": guest.organisationId,
    };
    const url = `/api/data-pools/${pool}/files`;
    expect((await here.api.inject({ method: "GET", url, headers })).statusCode).toBe(200);
    const refused = await here.api.inject({ method: "PUT", url: `${url}/a`, headers, payload: "{}" });
    expect([refused.statusCode, refused.json().code]).toEqual([403, "FORBIDDEN"]);
  });

  test("counts what is stored for the organisation that it belongs to, which alone is told how much that is", async () => {
    await share("maintainer");
    const own = await createPool("own", guest);
    for (let size = 0; size < TEST_POOL_BYTES; size += MAX_TEST_FILE)
      expect((await put(`${size}`, "x".repeat(MAX_TEST_FILE), guest)).status).toBe(201);
    const refused = await put("more", "x", guest);
    expect(refused).toMatchObject({ status: 429, body: { code: "QUOTA_EXCEEDED" } });
    expect(refused.body.detail).not.toMatch(/\d/u);
    expect((await put("more", "x")).body.detail).toMatch(/hold \d/u);
    expect((await put("mine", "x", guest, own)).status).toBe(201);
  });

  test("has what others change in it in the logs of both organisations", async () => {
    await share("maintainer");
    const { body } = await put("theirs.json", "{}", guest);
    await call(guest, `PUT /data-pools/${pool}/files/${body.fileId}/name`, { name: "new.json" });
    await call(guest, `DELETE /data-pools/${pool}/files/${body.fileId}`);
    const path = `${pool}/${body.fileId}`;
    const expected = [
      ["pool-file.delete", guest.userId, path, []],
      ["pool-file.rename", guest.userId, path, []],
      ["pool-file.create", guest.userId, `${pool}/theirs.json/${body.fileId}`, []],
    ];
    expect(await readLog(owner, "pool-file")).toEqual(expected);
    expect(await readLog(guest, "pool-file")).toEqual(expected);
    await put("own.json", "{}");
    expect(await readLog(guest, "pool-file")).toEqual(expected);
  });

  test("is shared, changed and withdrawn with an entry in the log", async () => {
    await share("viewer");
    await share("maintainer");
    await unshare();
    const target = `${pool}/${guest.organisationId}`;
    expect(await readLog(owner, "pool-share")).toEqual([
      ["pool-share.delete", owner.userId, target, [{ field: "role", before: "maintainer", after: null }]],
      ["pool-share.put", owner.userId, target, [{ field: "role", before: "viewer", after: "maintainer" }]],
      ["pool-share.put", owner.userId, target, [{ field: "role", before: null, after: "viewer" }]],
    ]);
  });

  test("is given up by who got it, who sees no other receiver", async () => {
    const third = await createTestUser(here);
    await share("viewer");
    await share("maintainer", third);
    expect(await listShares()).toHaveLength(2);
    expect(await listShares(guest)).toMatchObject([{ organizationId: guest.organisationId }]);
    expect((await unshare(guest, third)).body["code"]).toBe("FORBIDDEN");
    expect((await unshare(guest)).status).toBe(204);
    expect(await listPools(guest)).toEqual([]);
    const written = [await readLog(owner, "pool-share"), await readLog(guest, "pool-share")];
    const target = `${pool}/${guest.organisationId}`;
    for (const [entry] of written)
      expect(entry?.slice(0, 3)).toEqual(["pool-share.delete", guest.userId, target]);
    // The guest was refused to end the share of another one.
    expect(written.map(({ length }) => length)).toEqual([3, 2]);
    expect((await unshare(guest)).body["code"]).toBe("NOT_FOUND");
    expect((await unshare()).body["code"]).toBe("NOT_FOUND");
  });

  test("is not shared with its own organisation, nor with one that there is not", async () => {
    for (const id of [owner.organisationId, owner.organisationId.toUpperCase()])
      expect((await share("viewer", { ...owner, organisationId: id })).body["code"]).toBe("CONFLICT");
    for (const organisationId of [UNKNOWN, "x"])
      expect((await share("viewer", { ...owner, organisationId })).body["code"]).toBe("NOT_FOUND");
    expect((await share("owner")).body["code"]).toBe("INVALID_INPUT");
    expect(await listShares()).toEqual([]);
  });

  test("takes no file any more of an organisation whose share is withdrawn at the same moment", async () => {
    await share("maintainer");
    const lock = { text: "select 1 from data_pool where id = $1 for update", values: [pool] };
    const [withdrawn, stored] = await startAtOnce<{ status: number }>(home, lock, () => [
      unshare(),
      put("late.json", "{}", guest),
    ]);
    expect(withdrawn?.status).toBe(204);
    const left = await listItems(`/data-pools/${pool}/files`, owner);
    expect([
      [404, 0],
      [201, 1],
    ]).toContainEqual([stored?.status, left.length]);
  });
});

describe("an application", () => {
  test("of the organisation is let read or write, by an entry in the log, until that is withdrawn", async () => {
    const applicationId = await createApplication(owner);
    expect(await grant(applicationId, "read")).toMatchObject({
      status: 200,
      body: {
        applicationId,
        applicationName: "shop",
        organizationId: owner.organisationId,
        access: "read",
        createdBy: "Somebody",
      },
    });
    expect((await grant(applicationId, "write")).body["access"]).toBe("write");
    expect(await listGrants()).toMatchObject([{ applicationId, access: "write" }]);
    const withdraw = () => call(owner, `DELETE /data-pools/${pool}/grants/${applicationId}`);
    expect((await withdraw()).status).toBe(204);
    expect((await withdraw()).body["code"]).toBe("NOT_FOUND");
    expect(await readLog(owner, "pool-grant")).toMatchObject([
      ["pool-grant.delete", owner.userId, `${pool}/${applicationId}`, [{ before: "write", after: null }]],
      ["pool-grant.put", owner.userId, `${pool}/${applicationId}`, [{ before: "read", after: "write" }]],
      ["pool-grant.put", owner.userId, `${pool}/${applicationId}`, [{ before: null, after: "read" }]],
    ]);
  });

  test("of another organisation is let use what is shared with that one, and no more", async () => {
    const applicationId = await createApplication(guest);
    const foreign = await grant(applicationId, "read");
    expect([foreign.status, foreign]).toEqual([404, await grant(UNKNOWN, "read")]);
    await share("viewer");
    expect((await grant(applicationId, "read")).status).toBe(200);
    expect((await grant(applicationId, "write")).body["code"]).toBe("CONFLICT");
    await share("maintainer");
    expect((await grant(applicationId, "write")).status).toBe(200);
    const own = await createApplication(owner);
    await grant(own, "read");
    expect(await listGrants()).toHaveLength(2);
    expect(await listGrants(guest)).toMatchObject([{ applicationId, access: "write" }]);
    await share("viewer");
    expect(await listGrants(guest)).toMatchObject([{ applicationId, access: "read" }]);
    await unshare();
    expect(await listGrants()).toMatchObject([{ applicationId: own }]);
  });

  test("that is deleted at the same moment is granted nothing that stays", async () => {
    const applicationId = await createApplication(owner);
    const lock = { text: "select 1 from application where id = $1 for update", values: [applicationId] };
    await startAtOnce(home, lock, () => [
      call(owner, `DELETE /applications/${applicationId}`),
      grant(applicationId, "read"),
    ]);
    expect(await countRows()).toEqual({ shares: 0, grants: 0 });
  });
});

/** Of this pool, in the database. */
async function countRows() {
  const [row] = await home.database.query({
    text: `select (select count(*)::int from data_pool_share where pool_id = $1) as shares,
      (select count(*)::int from data_pool_grant where pool_id = $1) as grants`,
    values: [pool],
  });
  return row;
}

describe("shares and grants go", () => {
  beforeEach(async () => {
    await share("maintainer");
    await grant(await createApplication(owner), "write");
    await grant(await createApplication(guest), "write");
  });

  test("with the pool", async () => {
    expect(await countRows()).toEqual({ shares: 1, grants: 2 });
    expect((await call(owner, `DELETE /data-pools/${pool}`)).status).toBe(204);
    expect(await countRows()).toEqual({ shares: 0, grants: 0 });
    expect(await listPools(guest)).toEqual([]);
  });

  test("with the application", async () => {
    expect(await countRows()).toEqual({ shares: 1, grants: 2 });
    for (const user of [owner, guest])
      for (const { id } of await listItems<{ id: string }>("/applications", user))
        await call(user, `DELETE /applications/${id}`);
    expect(await countRows()).toEqual({ shares: 1, grants: 0 });
  });

  test("with the organisation that got them, and with that which gave them, whose pools are deleted", async () => {
    const { identity } = here;
    const id = await identity.createOrganisation(guest.userId, { name: "Short-lived" });
    await share("maintainer", { ...guest, organisationId: id });
    const createdBy = guest.userId;
    const application = await here.stores.applications.create({
      organisationId: id,
      name: "shop",
      createdBy,
    });
    await grant(application.id, "write");
    const created = { organisationId: id, name: "Theirs", description: "", createdBy };
    const theirs = await here.stores.dataPools.create(created);
    if (theirs === "name taken") throw new Error("The name is taken.");
    await here.stores.poolShares.put(
      { organisationId: id, poolId: theirs.id },
      { organisationId: owner.organisationId, role: "viewer", createdBy },
    );
    expect(await listPools(owner)).toHaveLength(2);
    expect(await countRows()).toEqual({ shares: 2, grants: 3 });
    await identity.deleteOrganisation(id, guest.userId);
    expect(await countRows()).toEqual({ shares: 1, grants: 2 });
    expect(await listPools(owner)).toMatchObject([{ id: pool }]);
  });
});
