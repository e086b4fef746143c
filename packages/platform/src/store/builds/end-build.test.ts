import type { BackendDescription } from "@platform/contract/quantum-api/description";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestOrganisation, createTestVersion } from "../../testing/fixtures.ts";
import { createTestDatabase } from "../../testing/test-database.ts";
import type { TestDatabase } from "../../testing/test-database.ts";
import { createStores } from "../stores.ts";
import type { BackendVersion } from "../versions/versions.ts";

const description: BackendDescription = {
  type: "SIMULATOR",
  display_name: "Echo",
  configuration: {
    qubit_count: 2,
    shots_range: { min: 1, max: 10 },
    max_pubs_per_job: 1,
    supported_input_formats: ["OPEN_QASM_V3"],
    memory_result_supported: false,
  },
};
const echo = { id: "sim.echo", description };

let home: TestDatabase;

beforeAll(async () => {
  home = await createTestDatabase();
});
afterAll(() => home.close());

type Versions = readonly (readonly [string, BackendVersion | null])[];

/** Builds these versions one after the other; returns what backend the service is then. */
async function build(versions: Versions): Promise<unknown> {
  const organisationId = await createTestOrganisation(home.database);
  const { key } = await createService(organisationId, "echo");
  await buildAll(organisationId, key, versions);
  return await findEcho(organisationId);
}

const createService = async (organisationId: string, name: string) =>
  await open().services.create({ organisationId, name, description: "" });
const open = () => createStores(home.database, { leaseSeconds: 30 });
const findEcho = async (organisationId: string, id = "sim.echo") =>
  (await open().backends.find(organisationId, id))?.version.version ?? null;

/** Of these, the states that their builds have ended in. */
async function buildAll(organisationId: string, serviceKey: string, versions: Versions): Promise<string[]> {
  const stores = open();
  const states: string[] = [];
  for (const [version, backend] of versions) {
    await stores.builds.create({
      organisationId,
      serviceKey,
      version,
      archiveHash: "archive",
      contentHash: version,
      isForced: false,
      requestedBy: "a user",
    });
    const claim = await stores.builds.claim("builder", 30);
    if (claim === null) throw new Error("The build was not claimed.");
    const made = createTestVersion({ serviceKey, version, backend });
    expect(await stores.builds.finish(claim, { status: "SUCCEEDED", version: made })).toBe(true);
    const [ended] = await home.database.query<{ readonly status: string }>({
      text: "select status from build where id = $1",
      values: [claim.id],
    });
    states.push(ended?.status ?? "");
  }
  return states;
}

test("a service is the backend that its newest version names, whatever is built of an older major later", async () => {
  expect(
    await build([
      ["1.0.0", null],
      ["2.0.0", echo],
    ]),
  ).toBe("2.0.0");
  expect(
    await build([
      ["1.0.0", null],
      ["2.0.0", echo],
      ["1.0.1", null],
    ]),
  ).toBe("2.0.0");
  expect(
    await build([
      ["1.0.0", echo],
      ["2.0.0", null],
      ["1.0.1", echo],
    ]),
  ).toBe(null);
});

test("the id of a backend whose versions are retired is free for another service, and a version that is left has its own again", async () => {
  const organisationId = await createTestOrganisation(home.database);
  const [first, second] = [
    (await createService(organisationId, "first")).key,
    (await createService(organisationId, "second")).key,
  ];
  const { versions } = open();
  const retire = async (key: string, version: string) => await versions.retire(organisationId, key, version);
  await buildAll(organisationId, first, [
    ["1.0.0", { ...echo, id: "sim.old" }],
    ["2.0.0", echo],
  ]);
  expect(await buildAll(organisationId, second, [["1.0.0", echo]])).toEqual(["FAILED"]);
  expect(await retire(first, "2.0.0")).toMatchObject({ version: "2.0.0" });
  expect(await findEcho(organisationId, "sim.old")).toBe("1.0.0");
  expect(await findEcho(organisationId)).toBeNull();
  expect(await buildAll(organisationId, second, [["1.0.1", echo]])).toEqual(["SUCCEEDED"]);
  expect(await findEcho(organisationId)).toBe("1.0.1");
  // An id that another service has by now stays with that.
  await buildAll(organisationId, first, [["3.0.0", null]]);
  await buildAll(organisationId, second, [["2.0.0", { ...echo, id: "sim.old" }]]);
  await retire(first, "3.0.0");
  expect(await findEcho(organisationId, "sim.old")).toBe("2.0.0");
  await retire(second, "2.0.0");
  await retire(second, "1.0.1");
  expect([await findEcho(organisationId), await findEcho(organisationId, "sim.old")]).toEqual([null, null]);
});

test("a version is retired also where another service takes the id of the one that is left at that moment", async () => {
  const organisationId = await createTestOrganisation(home.database);
  const [first, second] = [
    (await createService(organisationId, "first")).key,
    (await createService(organisationId, "second")).key,
  ];
  await buildAll(organisationId, first, [
    ["1.0.0", { ...echo, id: "sim.left" }],
    ["2.0.0", echo],
  ]);
  const other = await home.database.pool.connect();
  await other.query("begin");
  await other.query("update service set backend_id = 'sim.left' where key = $1", [second]);
  const retired = open().versions.retire(organisationId, first, "2.0.0");
  try {
    await expect
      .poll(async () => {
        const text =
          "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
        return (await home.database.query({ text })).length;
      })
      .toBeGreaterThan(0);
  } finally {
    await other.query("commit");
    other.release();
  }
  expect(await retired).toMatchObject({ version: "2.0.0", retiredAt: expect.any(Number) as unknown });
  const [row] = await home.database.query<{ readonly backend: string | null }>({
    text: "select backend_id as backend from service where key = $1",
    values: [first],
  });
  expect(row).toEqual({ backend: null });
});
