import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { createClient } from "./create-client.ts";
import { nameClient } from "./client-names.ts";
import { generateModels } from "./generate-models.ts";
import type { ModelRequest } from "./generate-models.ts";
import { zipClient } from "./package-client.ts";

const VERSION = {
  serviceKey: "0198a9a4-0000-7000-8000-000000000000",
  service: "salesman",
  version: "1.2.3",
  inputSchema: {
    properties: {
      data: { $ref: "#/$defs/Data" },
      params: { type: "object", properties: { seed: { type: "integer" } } },
    },
    $defs: { Data: { type: "object", properties: { cities: { type: "array", items: { type: "number" } } } } },
  },
  outputSchema: null,
  exampleInput: { data: { cities: [1, 2] } },
};
const deps = { generateModels, gatewayUrl: "https://gateway.example" };

test("equal versions give equal bytes, whenever they are made", async () => {
  const hashes = [];
  for (const time of [1, 2]) {
    const { files } = await createClient(VERSION, "python", deps);
    const shuffled = time === 1 ? files : Object.fromEntries(Object.entries(files).toReversed());
    hashes.push(
      createHash("sha256")
        .update(await zipClient(shuffled))
        .digest("hex"),
    );
  }
  expect(hashes[0]).toBe(hashes[1]);
});

test("a client names its endpoint, has the example of the listing, and says what is typed", async () => {
  const { files, isLasting } = await createClient(VERSION, "python", deps);
  expect(isLasting).toBe(true);
  expect(files["README.md"]).toContain(
    "https://gateway.example/0198a9a4-0000-7000-8000-000000000000/salesman/1.2.3",
  );
  expect(files["README.md"]).toContain("Types of the service: `Data`, `Params`.");
  expect(JSON.parse(files["example/data.json"] ?? "")).toEqual({ cities: [1, 2] });
  expect(files["salesman_client/models.py"]).toContain("class Data:");
  expect(files["salesman_client/core/client.py"]).toContain("class Client");
  expect(JSON.parse(files["openapi.json"] ?? "")).toMatchObject({ info: { version: "1.2.3" } });
  expect(files["LICENSE"]).toContain("Apache License");
});

test("a client of a listing without an example says that its own is empty", async () => {
  const { files } = await createClient({ ...VERSION, exampleInput: null }, "python", deps);
  expect(files["README.md"]).toContain("which are empty, since the provider names no example");
  const { files: filled } = await createClient(VERSION, "python", deps);
  expect(filled["README.md"]).not.toContain("which are empty");
});

test("a client of a service without type hints does not say that its schema is too large", async () => {
  const plain = { properties: { data: { type: "object" }, params: { type: "object" } } };
  const { files, isLasting } = await createClient({ ...VERSION, inputSchema: plain }, "python", deps);
  expect(isLasting).toBe(true);
  expect(files["README.md"]).toContain(
    "Input and result are plain JSON objects: the service declares no types",
  );
});

test("a client without models takes plain JSON, and says so", async () => {
  const failing = {
    ...deps,
    generateModels: (request: ModelRequest) => generateModels(request, { memoryMb: 8 }),
  };
  const { files, isLasting } = await createClient(VERSION, "javascript", failing);
  expect(isLasting).toBe(false);
  expect(files["README.md"]).toContain("Input and result are plain JSON objects");
  expect(files["index.d.ts"]).toContain("export type Data = JsonObject;");
  expect(files["models.d.ts"]).toBeUndefined();
});

test.each([
  [
    "travelling-salesman",
    "travelling_salesman_client",
    "io.platform.travelling_salesman",
    "TravellingSalesmanClient",
  ],
  ["class", "service_class_client", "io.platform.service_class", "ServiceClassClient"],
  ["2fa", "service_2fa_client", "io.platform.service_2fa", "Service2faClient"],
  ["platform", "service_platform_client", "io.platform.service_platform", "ServicePlatformClient"],
])(
  "a service %s has names that are valid in each language, and are not those of the cores",
  (service, module, javaPackage, javaClass) => {
    expect(nameClient(service)).toMatchObject({ module, javaPackage, javaClass });
  },
);
