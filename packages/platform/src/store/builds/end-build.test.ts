import type { BackendDescription } from "@platform/contract/quantum-api/description";
import { createUuidV7 } from "@platform/engine/base/uuid";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestOrganisation } from "../../testing/fixtures.ts";
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

/** Builds these versions one after the other; returns what backend the service is then. */
async function build(versions: readonly (readonly [string, BackendVersion | null])[]): Promise<unknown> {
  const { database } = home;
  const stores = createStores(database, { leaseSeconds: 30 });
  const organisationId = await createTestOrganisation(database);
  const { key: serviceKey } = await stores.services.create({
    organisationId,
    name: "echo",
    description: "",
  });
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
    const made = {
      id: createUuidV7(),
      serviceKey,
      version,
      archiveHash: "archive",
      contentHash: version,
      resources: { cpu: 1, memory: 1 },
      timeoutSeconds: 60,
      startMode: "auto",
      network: null,
      output: null,
      inputSchema: null,
      outputSchema: null,
      description: "",
      backend,
    } as const;
    expect(await stores.builds.finish(claim, { status: "SUCCEEDED", version: made })).toBe(true);
  }
  return (await stores.backends.find(organisationId, "sim.echo"))?.version.version ?? null;
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
