import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient } from "../clients/create-client.ts";
import { generateModels } from "../clients/generate-models.ts";
import { openBuildScene } from "../testing/build-scene.ts";
import type { BuildScene } from "../testing/build-scene.ts";
import { createTestClient } from "../testing/fixtures.ts";
import { TEST_GATEWAY_URL } from "../testing/instance.ts";

let scene: BuildScene;
beforeAll(async () => {
  scene = await openBuildScene();
});
afterAll(() => scene?.close());

/** Fields whose order is neither by length nor by the alphabet. */
const PROGRAM = `
from dataclasses import dataclass

@dataclass
class Data:
    values: list[float]
    label: str = "x"
    mode: str = "fast"

@dataclass
class Params:
    factor: int = 2
    wait: float = 0.5

@dataclass
class Sums:
    total: float
    count: int
    sum: float

def run(data: Data, params: Params) -> Sums:
    return Sums(0, 0, 0)
`;

interface Described {
  readonly inputSchema?: { readonly $defs: Definitions };
  readonly outputSchema?: { readonly $defs: Definitions };
  readonly exampleInput?: { readonly data: object };
  readonly components?: { readonly schemas: Definitions };
}
type Definitions = Readonly<Record<string, { readonly properties: object }>>;

const namesOf = (definitions: Definitions | undefined, name: string) =>
  Object.keys(definitions?.[name]?.properties ?? {});

test("fields keep the order of the program: in the version, its document, its example and its clients", async () => {
  const { key, name } = await scene.createService();
  const files = { "input/data.json": '{"values": [1], "label": "a", "mode": "b"}' };
  const build = await scene.deploy(key, await scene.pack(name, PROGRAM, {}, files));
  expect(build.status).toBe("SUCCEEDED");

  const { items } = await scene.read<{ items: readonly Described[] }>(`/services/${key}/versions`);
  const shown = await scene.read<Described>(`/services/${key}/versions/1.0.0`);
  const callable = await scene.read<Described>(`/marketplace/${key}/versions/1.0.0`);
  const document = await scene.read<Described>(`/marketplace/${key}/versions/1.0.0/openapi.json`);
  for (const definitions of [
    items[0]?.inputSchema?.$defs,
    shown.inputSchema?.$defs,
    callable.inputSchema?.$defs,
    document.components?.schemas,
    (await readGatewayDocument(key, name)).components?.schemas,
  ]) {
    expect(namesOf(definitions, "Data")).toEqual(["values", "label", "mode"]);
    expect(namesOf(definitions, "Params")).toEqual(["factor", "wait"]);
  }
  expect(namesOf(shown.outputSchema?.$defs, "Sums")).toEqual(["total", "count", "sum"]);
  expect(Object.keys(shown.exampleInput?.data ?? {})).toEqual(["values", "label", "mode"]);

  const { organisationId } = scene.owner;
  const found = await scene.instance.stores.marketplace.findForClient(organisationId, key, "1.0.0");
  if (found === null) throw new Error("There is no version to make a client of.");
  const client = await createClient(found, "javascript", { generateModels, gatewayUrl: TEST_GATEWAY_URL });
  const models = client.files["models.d.ts"] ?? "";
  expect([...models.matchAll(/^ {4}(\w+)\??:/gmu)].map(([, field]) => field)).toEqual([
    "values",
    "label",
    "mode",
    "factor",
    "wait",
    "total",
    "count",
    "sum",
  ]);
});

test("the schema of a version shows what is used where nothing is sent", async () => {
  const { key, name } = await scene.createService();
  expect((await scene.deploy(key, await scene.pack(name, PROGRAM))).status).toBe("SUCCEEDED");
  const { inputSchema } = await scene.read<Described>(`/services/${key}/versions/1.0.0`);
  expect([inputSchema?.$defs["Data"]?.properties, inputSchema?.$defs["Params"]?.properties]).toEqual([
    {
      values: { type: "array", items: { type: "number" } },
      label: { type: "string", default: "x" },
      mode: { type: "string", default: "fast" },
    },
    { factor: { type: "integer", default: 2 }, wait: { type: "number", default: 0.5 } },
  ]);
});

/** The document that applications read. */
async function readGatewayDocument(serviceKey: string, serviceName: string): Promise<Described> {
  const { instance, owner } = scene;
  await instance.stores.services.publish(owner.organisationId, serviceKey, "internal");
  const service = { serviceKey, serviceName, version: "1.0.0", versionId: "" };
  const { keyId, secret } = await createTestClient(instance, owner, service);
  const response = await instance.gateway.inject({
    url: `/${serviceKey}/${serviceName}/1.0.0/openapi.json`,
    headers: { authorization: `Basic ${Buffer.from(`${keyId}:${secret}`).toString("base64")}` },
  });
  return response.json<Described>();
}
