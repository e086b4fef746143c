import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { VersionDetails } from "@platform/contract/platform-api/services";
import { PROGRAM, openBuildScene } from "../testing/build-scene.ts";
import type { BuildScene } from "../testing/build-scene.ts";
import { createTestMember, createTestUser, insertTestVersion } from "../testing/fixtures.ts";
import type { TestUser } from "../testing/fixtures.ts";

let scene: BuildScene;
beforeAll(async () => {
  scene = await openBuildScene();
});
afterAll(() => scene?.close());

async function get(path: string, user: TestUser = scene.owner) {
  const response = await scene.instance.api.inject({
    url: `/api${path}`,
    headers: { authorization: `Bearer ${user.token}`, "x-organizationid": user.organisationId },
  });
  return { status: response.statusCode, body: response.json<VersionDetails & { code?: string }>() };
}

const withField = (type: string | readonly string[]) => ({
  type: "object",
  properties: { data: { type: "object", properties: { n: { type } }, required: ["n"] } },
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
