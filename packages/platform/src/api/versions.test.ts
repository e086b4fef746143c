import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ListedVersion, VersionDetails } from "@platform/contract/platform-api/services";
import type { VersionCaller } from "@platform/contract/platform-api/subscriptions";
import { rollUpUsage } from "../store/usage/roll-up.ts";
import { PROGRAM, openBuildScene } from "../testing/build-scene.ts";
import type { BuildScene } from "../testing/build-scene.ts";
import { createTestMember, createTestUser, insertTestVersion } from "../testing/fixtures.ts";
import type { TestUser } from "../testing/fixtures.ts";

let scene: BuildScene;
beforeAll(async () => {
  scene = await openBuildScene();
});
afterAll(() => scene?.close());

/** Of a version, of a list, or of a refusal. */
type Answer = VersionDetails & {
  readonly code?: string;
  readonly items: readonly (ListedVersion & VersionCaller)[];
  readonly nextCursor: string | null;
};

async function get(path: string, user: TestUser = scene.owner) {
  const response = await scene.instance.api.inject({
    url: `/api${path}`,
    headers: { authorization: `Bearer ${user.token}`, "x-organizationid": user.organisationId },
  });
  return { status: response.statusCode, body: response.json<Answer>() };
}

const withField = (type: string | readonly string[]) => ({
  type: "object",
  properties: { data: { type: "object", properties: { n: { type } }, required: ["n"] } },
});

describe("the versions of a service", () => {
  test("say in their list which of them break callers of the one before, and how", async () => {
    const { key: serviceKey } = await scene.createService();
    for (const [version, type] of [
      ["1.0.0", "number"],
      ["2.0.0", "string"],
      ["1.1.0", ["number", "null"]],
    ] as const)
      await insertTestVersion(scene.home.database, { serviceKey, version, inputSchema: withField(type) });
    const { body } = await get(`/services/${serviceKey}/versions`);
    const listed = body.items.map(({ version, formerVersion, breakingChange }) => [
      version,
      formerVersion,
      breakingChange,
    ]);
    expect(listed).toEqual([
      ["1.1.0", "1.0.0", null],
      ["2.0.0", "1.1.0", "/data/n was number or null and is now string"],
      ["1.0.0", null, null],
    ]);
  });
});

describe("who calls a version", () => {
  let key: string;
  let path: string;
  let consumer: TestUser;

  const callersOf = async (version: string, user?: TestUser) =>
    (await get(`/services/${key}/versions/${version}/callers`, user)).body.items;

  const idsOf = async (version: string) =>
    (await callersOf(version)).map(({ subscriptionId }) => subscriptionId);

  async function subscribe(version?: string): Promise<string> {
    const { applications, subscriptions } = scene.instance.stores;
    const { organisationId, userId: createdBy } = consumer;
    const { id } = await applications.create({ organisationId, name: "dispatch", createdBy });
    return (await subscriptions.create(organisationId, id, key, { version })).id;
  }

  /** As the end of an execution is counted (store/executions/meter.ts). */
  async function countOne(subscription: string, version: string, day = "(now() at time zone 'UTC')::date") {
    await scene.home.database.query({
      text: `insert into usage_entry (day, organisation_id, owner_id, version_id, succeeded, failed, unknown, uncounted, cpu_micros, gb_micros)
        select ${day}, $1, $2, v.id, 1, 0, 0, 0, 0, 0 from version v
        where v.service_key = $3 and concat_ws('.', v.major, v.minor, v.patch) = $4`,
      values: [consumer.organisationId, subscription, key, version],
    });
  }

  beforeAll(async () => {
    consumer = await createTestUser(scene.instance);
    ({ key } = await scene.createService());
    path = `/services/${key}/versions/1.0.0/callers`;
    for (const version of ["1.0.0", "2.0.0"])
      await insertTestVersion(scene.home.database, { serviceKey: key, version });
    await scene.instance.stores.services.publish(scene.owner.organisationId, key, "marketplace");
  });

  test("is known by what was used of it and by what is pinned to it; nothing of an input is in it", async () => {
    const follows = await subscribe();
    const pinned = await subscribe("1.0.0");
    await countOne(follows, "1.0.0");
    await countOne(follows, "1.0.0");
    await countOne(follows, "2.0.0");
    const today = new Date().toISOString().slice(0, 10);
    const named = { organizationName: "Somebody", applicationName: "dispatch", status: "ACTIVE" };
    const seen = [
      { subscriptionId: pinned, ...named, version: "1.0.0", executions: 0, lastDay: null },
      { subscriptionId: follows, ...named, version: null, executions: 2, lastDay: today },
    ];
    expect(await callersOf("1.0.0")).toEqual(seen);
    expect((await callersOf("2.0.0")).map(({ executions }) => executions)).toEqual([1]);
    await rollUpUsage(scene.home.database);
    expect(await callersOf("1.0.0")).toEqual(seen);
    const first = await get(`${path}?limit=1`);
    const next = await get(`${path}?limit=1&cursor=${first.body.nextCursor}`);
    expect([...first.body.items, ...next.body.items]).toEqual(seen);
  });

  test("is forgotten after 30 days, and when the subscription ends", async () => {
    const [left, old, late] = [await subscribe(), await subscribe(), await subscribe()];
    await countOne(left, "2.0.0");
    await countOne(old, "2.0.0", "(now() at time zone 'UTC')::date - 30");
    await countOne(late, "2.0.0", "(now() at time zone 'UTC')::date - 29");
    expect((await idsOf("2.0.0")).slice(0, 2)).toEqual([late, left]);
    await scene.instance.stores.subscriptions.cancel(consumer.organisationId, left);
    expect(await idsOf("2.0.0")).not.toContain(left);
    expect(await idsOf("2.0.0")).not.toContain(old);
  });

  test("is told to nobody but who may list the subscribers: viewers and the callers themselves are refused", async () => {
    const { organisationId } = scene.owner;
    const viewer = await createTestMember(scene.instance, organisationId, "viewer");
    expect((await get(path, { ...viewer, organisationId })).status).toBe(403);
    expect(await get(path, consumer)).toMatchObject({ status: 404, body: { code: "SERVICE_NOT_FOUND" } });
    expect((await get(`/services/${key}/versions/9.9.9/callers`)).status).toBe(404);
    // Neither by the operation nor by the statement.
    const { subscriptions } = scene.instance.stores;
    const called = { serviceKey: key, version: "1.0.0" };
    expect((await subscriptions.listCallers(organisationId, called, { limit: 10 })).items).not.toEqual([]);
    const others = await subscriptions.listCallers(consumer.organisationId, called, { limit: 10 });
    expect(others.items).toEqual([]);
  });
});

describe("a version", () => {
  test("shows what was uploaded: README, example input, who deployed it, and what it was built of", async () => {
    const { key, name } = await scene.createService();
    const files = {
      "README.md": "# Sums\n",
      "input/data.json": '{"values": [1, 2]}',
      "requirements.txt": "# nothing to install\n",
    };
    const archive = await scene.pack(name, PROGRAM, { descriptionFile: "README.md" }, files);
    expect((await scene.deploy(key, archive)).status).toBe("SUCCEEDED");
    const { status, body } = await get(`/services/${key}/versions/1.0.0`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      version: "1.0.0",
      status: "LIVE",
      readme: "# Sums\n",
      exampleInput: { data: { values: [1, 2] } },
      sizeBytes: archive.length,
      python: expect.stringMatching(/^3\.\d+/u),
      requirements: [],
      createdBy: "Somebody",
      formerVersion: null,
      isBreaking: false,
      breakingChange: null,
      breakingChanges: [],
    });
    expect(Object.keys(body.inputSchema ?? {})).not.toEqual([]);
  });

  test("shows the numbers of its schemas and of its example with all their digits, also in the marketplace", async () => {
    const { key, name } = await scene.createService();
    const program = [
      "from typing import Literal",
      "def run(data: Literal[12345678901234567890, 5]) -> Literal[98765432109876543210]:",
      "    return 98765432109876543210",
      "",
    ].join("\n");
    const files = { "input/params.json": '{"big": 12345678901234567891, "far": 1e400}' };
    expect((await scene.deploy(key, await scene.pack(name, program, {}, files))).status).toBe("SUCCEEDED");
    const headers = {
      authorization: `Bearer ${scene.owner.token}`,
      "x-organizationid": scene.owner.organisationId,
    };
    const { body: shown } = await scene.instance.api.inject({
      url: `/api/services/${key}/versions/1.0.0`,
      headers,
    });
    expect(shown).toContain('"enum":[12345678901234567890,5]');
    expect(shown).toContain('"enum":[98765432109876543210]');
    expect(shown).toContain('"exampleInput":{"params":{"big":12345678901234567891,"far":1e400}}');
    const url = `/api/services/${key}/publish`;
    await scene.instance.api.inject({ method: "POST", url, headers, payload: { scope: "internal" } });
    const { body: offered } = await scene.instance.api.inject({ url: `/api/marketplace/${key}`, headers });
    expect(offered).toContain('"enum":[12345678901234567890,5]');
    expect(offered).toContain('"enum":[98765432109876543210]');
  });

  test("says whether its input breaks callers of the version before it, by number and not by time", async () => {
    const { key: serviceKey } = await scene.createService();
    for (const [version, type] of [
      ["1.0.0", "number"],
      ["2.0.0", "string"],
      ["1.1.0", ["number", "null"]],
    ] as const)
      await insertTestVersion(scene.home.database, { serviceKey, version, inputSchema: withField(type) });
    const { organisationId } = scene.owner;
    await scene.instance.stores.versions.retire(organisationId, serviceKey, "1.1.0");
    const read = async (version: string) => {
      const { body } = await get(`/services/${serviceKey}/versions/${version}`);
      return [body.status, body.formerVersion, body.isBreaking, body.breakingChange];
    };
    expect(await read("1.0.0")).toEqual(["LIVE", null, false, null]);
    expect(await read("1.1.0")).toEqual(["RETIRED", "1.0.0", false, null]);
    const change = "/data/n was number or null and is now string";
    expect(await read("2.0.0")).toEqual(["LIVE", "1.1.0", true, change]);
  });

  test("of a former release says what is not known", async () => {
    const { key } = await scene.createService();
    await insertTestVersion(scene.home.database, {
      serviceKey: key,
      version: "1.0.0",
      inputSchema: withField("number"),
    });
    expect((await get(`/services/${key}/versions/1.0.0`)).body).toMatchObject({
      exampleInput: null,
      requirements: null,
      python: null,
      sizeBytes: null,
      createdBy: null,
      inputSchema: withField("number"),
    });
  });

  test("lists what was installed, a line each", async () => {
    const { key } = await scene.createService();
    const requirements = "numpy==2.0\nscipy\n# constraints\nscipy<2\n";
    const built = { requirementsHash: "0".repeat(64), python: "3.11.2", requirements };
    await insertTestVersion(scene.home.database, { serviceKey: key, version: "1.0.0", built });
    expect((await get(`/services/${key}/versions/1.0.0`)).body).toMatchObject({
      requirements: ["numpy==2.0", "scipy", "# constraints", "scipy<2"],
      python: "3.11.2",
    });
  });

  test("is read by viewers, and that of another organisation is as unknown as one that never was", async () => {
    const { key } = await scene.createService();
    await insertTestVersion(scene.home.database, { serviceKey: key, version: "1.0.0" });
    const { organisationId } = scene.owner;
    const viewer = await createTestMember(scene.instance, organisationId, "viewer");
    expect((await get(`/services/${key}/versions/1.0.0`, { ...viewer, organisationId })).status).toBe(200);
    const stranger = await createTestUser(scene.instance);
    const unknown = await get(`/services/${randomUUID()}/versions/1.0.0`, stranger);
    expect(unknown).toMatchObject({ status: 404, body: { code: "SERVICE_NOT_FOUND" } });
    expect(await get(`/services/${key}/versions/1.0.0`, stranger)).toEqual(unknown);
    for (const path of [`${key}/versions/1.0.1`, `${key}/versions/latest`, "no-uuid/versions/1.0.0"])
      expect(await get(`/services/${path}`)).toEqual(unknown);
  });
});
