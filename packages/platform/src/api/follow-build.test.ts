import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { readEvents } from "@platform/contract/event-stream";
import type { ServerEvent } from "@platform/contract/event-stream";
import type { BuildSummary } from "@platform/contract/platform-api/builds";
import { createTestMember, createTestUser } from "../testing/fixtures.ts";
import type { TestUser } from "../testing/fixtures.ts";
import { createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";
import type { BuildClaim } from "../store/builds/builds.ts";

let home: TestDatabase;
let here: TestInstance;
let base: string;
let owner: TestUser;
let key: string;

beforeAll(async () => {
  home = await createTestDatabase();
  here = await createTestInstance({ database: home.database });
  base = await here.api.listen({ port: 0, host: "127.0.0.1" });
});
afterAll(async () => {
  await here?.close();
  await home?.close();
});
beforeEach(async () => {
  // Builds of other tests are claimed first.
  await home.database.query({ text: "delete from build" });
  owner = await createTestUser(here);
  const { organisationId } = owner;
  key = (await here.stores.services.create({ organisationId, name: "demo", description: "" })).key;
});

async function createBuild(version = "1.0.0"): Promise<void> {
  const { organisationId, userId: requestedBy } = owner;
  const hash = "0".repeat(64);
  const build = { organisationId, serviceKey: key, version, archiveHash: hash, contentHash: hash };
  await here.stores.builds.create({ ...build, isForced: false, requestedBy });
}

async function claim(): Promise<BuildClaim> {
  const claimed = await here.stores.builds.claim("test", 60);
  if (claimed === null) throw new Error("There is no build to claim.");
  return claimed;
}

const write = (held: BuildClaim, ...lines: readonly string[]) => here.stores.builds.appendLog(held, lines);
const fail = (held: BuildClaim) =>
  here.stores.builds.finish(held, { status: "FAILED", code: "BUILD_FAILED", detail: "It failed." });

const send = (
  path: string,
  { token, organisationId } = owner,
  headers: Readonly<Record<string, string>> = {},
) =>
  fetch(`${base}/api/services/${path}`, {
    headers: { authorization: `Bearer ${token}`, "x-organizationid": organisationId, ...headers },
  });

/** The events of the build of 1.0.0, as they come. */
async function follow(headers: Readonly<Record<string, string>> = {}) {
  const response = await send(`${key}/versions/1.0.0/build/events`, owner, {
    accept: "text/event-stream",
    ...headers,
  });
  if (response.body === null) throw new Error("no body");
  const events = readEvents(response.body);
  return {
    status: response.status,
    type: response.headers.get("content-type"),
    next: async (): Promise<readonly [string, unknown, string | null] | null> => {
      const { value } = await events.next();
      return value === undefined ? null : describeEvent(value as ServerEvent);
    },
    close: () => events.return(undefined),
  };
}

const describeEvent = ({ event, data, id }: ServerEvent) => [event, JSON.parse(data), id] as const;
const state = (status: string) => [
  "state",
  expect.objectContaining({ version: "1.0.0", status }),
  expect.anything(),
];

const waits = (buildsBefore: number) => [
  "state",
  expect.objectContaining({ version: "1.0.0", status: "PENDING", buildsBefore }),
  null,
];

describe("a build that is followed", () => {
  test("says its state, its lines as they are written, its end, and closes", async () => {
    await createBuild();
    const stream = await follow();
    expect([stream.status, stream.type]).toEqual([200, "text/event-stream"]);
    expect(await stream.next()).toEqual([
      "state",
      expect.objectContaining({ status: "PENDING", terminal: false }),
      null,
    ]);
    const held = await claim();
    expect(await stream.next()).toEqual(["state", expect.objectContaining({ status: "RUNNING" }), null]);
    await write(held, "first", "second");
    expect(await stream.next()).toEqual(["log", { offset: 0, lines: ["first", "second"] }, `${held.id}:2`]);
    await write(held, "third");
    expect(await stream.next()).toEqual(["log", { offset: 2, lines: ["third"] }, `${held.id}:3`]);
    await write(held, "last");
    await fail(held);
    expect(await stream.next()).toEqual(["log", { offset: 3, lines: ["last"] }, `${held.id}:4`]);
    expect(await stream.next()).toEqual([
      "state",
      expect.objectContaining({
        id: held.id,
        status: "FAILED",
        terminal: true,
        code: "BUILD_FAILED",
        createdBy: "Somebody",
      }),
      `${held.id}:4`,
    ]);
    expect(await stream.next()).toEqual(["end", {}, `${held.id}:4`]);
    expect(await stream.next()).toBeNull();
  });

  test("says while it waits how many builds come before it, as organisations take turns", async () => {
    await createBuild("2.0.0");
    await createBuild("1.0.0");
    const own = { owner, key };
    owner = await createTestUser(here);
    const { organisationId } = owner;
    key = (await here.stores.services.create({ organisationId, name: "demo", description: "" })).key;
    await createBuild("1.0.0");
    const readBefore = async (version: string) =>
      (await (await send(`${key}/versions/${version}/build`)).json()) as BuildSummary;
    // The first ones of each come first, though the second one of the other organisation is older.
    expect((await readBefore("1.0.0")).buildsBefore).toBe(1);
    ({ owner, key } = own);
    expect((await readBefore("2.0.0")).buildsBefore).toBe(0);
    const stream = await follow();
    expect(await stream.next()).toEqual(waits(2));
    const first = await claim();
    expect([first.version, first.serviceKey]).toEqual(["2.0.0", key]);
    expect(await stream.next()).toEqual(waits(1));
    expect((await claim()).serviceKey).not.toBe(key);
    expect(await stream.next()).toEqual(waits(0));
    const held = await claim();
    expect([held.version, held.serviceKey]).toEqual(["1.0.0", key]);
    const [, running] = (await stream.next()) ?? [];
    expect(running).toMatchObject({ status: "RUNNING" });
    expect(running).not.toHaveProperty("buildsBefore");
    // One of this major number is built after the other.
    await createBuild("1.0.1");
    expect((await readBefore("1.0.1")).buildsBefore).toBe(1);
    await stream.close();
  });

  test("goes on behind the lines that the caller has, with the same build when there is a newer one", async () => {
    await createBuild();
    const first = await claim();
    await write(first, "a", "b", "c");
    await fail(first);
    await createBuild();
    await write(await claim(), "of another build");
    const again = await follow({ "last-event-id": `${first.id}:2` });
    expect(await again.next()).toEqual(["state", expect.objectContaining({ id: first.id }), null]);
    expect(await again.next()).toEqual(["log", { offset: 2, lines: ["c"] }, `${first.id}:3`]);
    expect(await again.next()).toEqual(state("FAILED"));
    expect((await again.next())?.[0]).toBe("end");
    const latest = await follow();
    await latest.next();
    expect(await latest.next()).toEqual([
      "log",
      { offset: 0, lines: ["of another build"] },
      expect.anything(),
    ]);
    await latest.close();
  });

  test("is told why where it is removed meanwhile", async () => {
    await createBuild();
    const stream = await follow();
    await stream.next();
    await home.database.query({ text: "delete from build" });
    expect(await stream.next()).toEqual([
      "closed",
      { code: "SERVICE_NOT_FOUND", detail: "The build was removed." },
      null,
    ]);
    expect(await stream.next()).toBeNull();
  });

  test("has fewer streams than executions have, and gives the place of one back that is closed", async () => {
    await createBuild();
    const all = await Promise.all(Array.from({ length: 20 }, async () => await follow()));
    // What was never read from is not closed by its reader.
    await Promise.all(all.map(async (one) => await one.next()));
    const refused = await send(`${key}/versions/1.0.0/build/events`);
    expect([refused.status, await refused.json()]).toMatchObject([429, { code: "RATE_LIMITED" }]);
    await all[0]?.close();
    const again = async () => {
      const { status, body } = await send(`${key}/versions/1.0.0/build/events`);
      await body?.cancel();
      return status;
    };
    await expect.poll(again).toBe(200);
    await Promise.all(all.map(async (one) => await one.close()));
  });

  test.each([
    "x",
    "00000000-0000-0000-0000-000000000000",
    `${"0".repeat(36)}:x`,
    `${randomUUID()}:9999999999`,
  ])("is not followed from %s", async (id) => {
    await createBuild();
    const response = await send(`${key}/versions/1.0.0/build/events`, owner, { "last-event-id": id });
    expect([response.status, await response.json()]).toMatchObject([400, { code: "INVALID_INPUT" }]);
  });

  test("of another organisation or of another version is as unknown as one that never was", async () => {
    await createBuild();
    const held = await claim();
    const stranger = await createTestUser(here);
    const headers = { "last-event-id": `${held.id}:0` };
    const answers = await Promise.all([
      send(`${key}/versions/1.0.0/build/events`, stranger),
      send(`${key}/versions/1.0.0/build/events`, stranger, headers),
      send(`${key}/versions/1.0.1/build/events`, owner, headers),
      send(`${randomUUID()}/versions/1.0.0/build/events`, owner),
    ]);
    for (const answer of answers)
      expect([answer.status, await answer.json()]).toEqual([
        404,
        { code: "SERVICE_NOT_FOUND", detail: "There is no build of this version." },
      ]);
  });
});

const list = async (query = "", user = owner) => {
  const response = await send(`${key}/builds${query}`, user);
  return {
    status: response.status,
    ...((await response.json()) as { items: BuildSummary[]; nextCursor: string | null; code?: string }),
  };
};

describe("the builds of a service", () => {
  test("are listed in pages, the newest first, with those that failed and without their logs", async () => {
    for (const version of ["1.0.0", "1.0.0", "1.0.1"]) {
      await createBuild(version);
      const held = await claim();
      await write(held, "a line");
      await fail(held);
    }
    await createBuild("2.0.0");
    const first = await list("?limit=3");
    expect(first.items.map(({ version, status }) => [version, status])).toEqual([
      ["2.0.0", "PENDING"],
      ["1.0.1", "FAILED"],
      ["1.0.0", "FAILED"],
    ]);
    expect(first.items[1]).toMatchObject({
      code: "BUILD_FAILED",
      detail: "It failed.",
      createdBy: "Somebody",
      isForced: false,
    });
    expect(first.items[1]).not.toHaveProperty("log");
    const rest = await list(`?limit=3&cursor=${first.nextCursor}`);
    expect([rest.items.length, rest.nextCursor]).toEqual([1, null]);
    expect(new Set([...first.items, ...rest.items].map(({ id }) => id)).size).toBe(4);
  });

  test("are read by viewers, and not by other organisations", async () => {
    await createBuild();
    const { organisationId } = owner;
    const viewer = await createTestMember(here, organisationId, "viewer");
    expect((await list("", { ...viewer, organisationId })).items).toHaveLength(1);
    expect(await list("", await createTestUser(here))).toMatchObject({
      status: 404,
      code: "SERVICE_NOT_FOUND",
    });
  });

  test("has who deployed as nobody where a former row names no user", async () => {
    await createBuild();
    await home.database.query({ text: "update build set requested_by = 'somebody'" });
    expect((await list()).items).toMatchObject([{ createdBy: null }]);
  });
});
