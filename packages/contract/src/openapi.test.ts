import { Validator } from "@seriousme/openapi-schema-validator";
import { Type } from "typebox";
import { describe, expect, test } from "vitest";
import { LOCAL_FEED_API } from "./feed.ts";
import { LOCAL_SERVICE_API } from "./local-service-api.ts";
import { createComponents } from "./openapi-components.ts";
import { createOpenApi } from "./openapi.ts";
import type { OpenApiDocument } from "./openapi.ts";
import { createPlatformOpenApi } from "./platform-api/openapi.ts";
import { createQuantumOpenApi } from "./quantum-api/openapi.ts";
import { PLATFORM_API } from "./platform-api/platform-api.ts";
import { createServiceOpenApi } from "./service-openapi.ts";

type Json = Readonly<Record<string, unknown>>;

const TYPED = {
  type: "object",
  properties: { data: { $ref: "#/$defs/Point" }, params: { type: "object" } },
  $defs: { Point: { type: "object", properties: { next: { $ref: "#/$defs/Point" } } } },
};

function describeService(inputSchema: Json | null, tokenUrl: string | null = null): OpenApiDocument {
  return createServiceOpenApi({
    name: "demo",
    version: "1.2.3",
    description: "",
    server: { url: "https://gateway.example.org/key/demo/1.2.3", description: "" },
    inputSchema,
    tokenUrl,
    ...(tokenUrl === null ? { operations: { ...LOCAL_SERVICE_API, ...LOCAL_FEED_API } } : {}),
  });
}

test("the document of the platform has every operation of its tables", () => {
  const document = createPlatformOpenApi();
  const described = Object.values(document.paths).flatMap((path) =>
    Object.values(path as Readonly<Record<string, Json>>).map(({ operationId }) => operationId),
  );
  expect(new Set(described)).toEqual(new Set(Object.keys(PLATFORM_API)));
});

test("an answer to a preference is beside the others, which stay the only ones that generated clients know", () => {
  const { post } = (describeService(null).paths["/"] ?? {}) as Record<string, Json>;
  const start = post ?? {};
  expect(Object.keys(start["responses"] as Json).filter((status) => status < "300")).toEqual(["201"]);
  expect(start["x-preferred-responses"]).toMatchObject({
    "dry-run": {
      200: { content: { "application/json": { schema: { title: "Rehearsal", type: "object" } } } },
    },
  });
});

function compare(a: string, b: string): number {
  return a < b ? -1 : 1;
}

const TOKEN_URL = "https://gateway.example.org/token";
const DOCUMENTS = [
  ["of the platform", createPlatformOpenApi()],
  ["of quantum jobs", createQuantumOpenApi()],
  ["of a service", describeService(null, TOKEN_URL)],
  ["of a service with types", describeService(TYPED, TOKEN_URL)],
  ["of a local server", describeService(TYPED)],
] as const;

describe.each(DOCUMENTS)("the OpenAPI document %s", (_whose, document) => {
  test("is valid by the specification's own schema", async () => {
    const { valid, errors } = await new Validator().validate({ ...document });
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
  });

  test("refers to components that it has, and has none that nothing refers to", () => {
    const text = JSON.stringify(document);
    const used = new Set(
      [...text.matchAll(/"#\/components\/schemas\/([^"/]+)"/g)].map(([, name = ""]) => name),
    );
    expect([...used].toSorted(compare)).toEqual(Object.keys(document.components.schemas).toSorted(compare));
    expect(text).not.toContain("#/$defs/");
  });

  test("writes a choice of texts as enum, never as a union of constants", () => {
    expect(JSON.stringify(document)).not.toContain('"const"');
  });

  const operations = Object.values(document.paths).flatMap(
    (path) =>
      Object.entries(path) as [
        string,
        Json & { readonly responses: Json; readonly tags: readonly string[] },
      ][],
  );

  test.each(
    operations.map(([method, operation]) => [String(operation["operationId"]), method, operation] as const),
  )("documents for %s every status that any operation can have", (_id, method, operation) => {
    // What users have stored is of its own type.
    const refused =
      /^(?:downloadPoolFile|downloadArchive|downloadClient|downloadOpenApi|downloadResultFile|get(?:Job)?ResultFile)$/u.test(
        String(operation["operationId"]),
      )
        ? "416"
        : "406";
    const common =
      method === "get" ? ["400", refused, "500", "503"] : ["400", "406", "408", "413", "415", "500", "503"];
    expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(common));
    expect(document.tags.map((tag) => tag["name"])).toEqual(expect.arrayContaining([...operation.tags]));
    for (const text of [operation["summary"], operation["description"]]) expect(text).toMatch(/\S/);
  });
});

interface Operation {
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
}

/** The codes that the description of each status names. */
function codesOf(document: OpenApiDocument, path: string, method: string): Json {
  const operation = document.paths[path]?.[method] as Operation | undefined;
  return Object.fromEntries(
    Object.entries(operation?.responses ?? {}).map(([status, { description }]) => [
      status,
      [...description.matchAll(/`([A-Z_]+)`:/g)].map(([, code = ""]) => code).toSorted(compare),
    ]),
  );
}

describe("the statuses and codes of an operation", () => {
  test("start of a deployed service", () => {
    expect(codesOf(describeService(null, TOKEN_URL), "/", "post")).toEqual({
      201: [],
      400: ["INVALID_INPUT", "INVALID_JSON"],
      401: ["UNAUTHENTICATED"],
      403: ["NOT_SUBSCRIBED", "SUBSCRIPTION_ENDED"],
      404: ["SERVICE_NOT_FOUND"],
      406: ["NOT_ACCEPTABLE"],
      408: ["REQUEST_TIMEOUT"],
      409: ["IDEMPOTENCY_CONFLICT"],
      410: ["VERSION_RETIRED"],
      413: ["INPUT_TOO_LARGE"],
      415: ["UNSUPPORTED_MEDIA_TYPE"],
      422: ["DATA_REFERENCE_INVALID"],
      429: ["QUOTA_EXCEEDED", "RATE_LIMITED"],
      500: ["INTERNAL_ERROR"],
      503: ["UNAVAILABLE"],
    });
  });

  test("state of a local server", () => {
    expect(codesOf(describeService(null), "/{id}", "get")).toEqual({
      200: [],
      304: [],
      400: ["INVALID_INPUT"],
      403: ["FORBIDDEN"],
      404: ["EXECUTION_NOT_FOUND"],
      406: ["NOT_ACCEPTABLE"],
      410: ["RESULT_EXPIRED"],
      500: ["INTERNAL_ERROR"],
      503: ["UNAVAILABLE"],
    });
  });

  test("list of services", () => {
    expect(codesOf(createPlatformOpenApi(), "/services", "get")).toEqual({
      200: [],
      400: ["INVALID_INPUT"],
      401: ["UNAUTHENTICATED"],
      403: ["FORBIDDEN"],
      406: ["NOT_ACCEPTABLE"],
      500: ["INTERNAL_ERROR"],
      503: ["UNAVAILABLE"],
    });
  });
});

test("content of users is bytes of any type, of which there are ranges", () => {
  const row = {
    method: "GET",
    path: "/file",
    allows: "caller",
    scope: "user",
    audit: null,
    rate: "read",
    bodyMode: "none",
    answerMode: "content",
    summary: "A file",
    description: "",
    responses: { 200: { description: "The file" } },
  } as const;
  const { paths } = createOpenApi({
    title: "",
    version: "1",
    description: "",
    server: { url: "/", description: "" },
    security: {},
    groups: [
      {
        name: "files",
        description: "",
        operations: { get: row, put: { ...row, method: "PUT", bodyMode: "file", answerMode: "none" } },
      },
    ],
  });
  const bytes = { content: { "*/*": { schema: { type: "string", format: "binary" } } } };
  expect(paths["/file"]?.["get"]).toMatchObject({
    responses: {
      200: { description: "The file", ...bytes },
      206: bytes,
      304: { description: expect.any(String) },
      416: { description: expect.stringContaining("RANGE_NOT_SATISFIABLE") },
    },
  });
  expect(paths["/file"]?.["get"]).not.toHaveProperty("responses.406");
  expect(paths["/file"]?.["put"]).toMatchObject({ requestBody: bytes });
});

test("content that is a JSON document is described as such", () => {
  const path = createPlatformOpenApi().paths["/marketplace/{key}/versions/{version}/openapi.json"];
  expect(path?.["get"]).toMatchObject({
    responses: {
      200: { content: { "application/json": { schema: { $ref: "#/components/schemas/OpenApiDocument" } } } },
    },
  });
});

function schemasOf(inputSchema: Json) {
  return describeService(inputSchema).components.schemas;
}

describe("the types that a service declares", () => {
  test("stand in the place of any object, and their definitions beside ours", () => {
    const schemas = schemasOf(TYPED);
    expect(schemas["StartRequest"]).toMatchObject({
      properties: {
        data: { $ref: "#/components/schemas/Point" },
        params: { type: "object", additionalProperties: true },
        dataRef: { $ref: "#/components/schemas/FileReference" },
      },
    });
    expect(schemas["Point"]).toEqual({
      type: "object",
      properties: { next: { $ref: "#/components/schemas/Point" } },
    });
  });

  test("do not replace components of ours that have their name", () => {
    const own = { type: "object", properties: { x: { $ref: "#/$defs/Problem/properties/y" } } };
    const schemas = schemasOf({
      properties: { data: { $ref: "#/$defs/Problem" } },
      $defs: { Problem: own, StartRequest: { type: "string" } },
    });
    expect(schemas["Problem"]).toEqual(schemasOf({})["Problem"]);
    expect(schemas["Problem2"]).toMatchObject({
      properties: { x: { $ref: "#/components/schemas/Problem2/properties/y" } },
    });
    expect(schemas["StartRequest2"]).toEqual({ type: "string" });
    expect(schemas["StartRequest"]).toMatchObject({
      properties: { data: { $ref: "#/components/schemas/Problem2" } },
    });
  });

  test("have names of the characters that OpenAPI allows", async () => {
    const inputSchema = {
      properties: { data: { anyOf: [{ $ref: "#/$defs/Größe~1[int]" }, { $ref: "#/$defs/Gr__e__int_" }] } },
      $defs: { "Größe/[int]": { type: "integer" }, Gr__e__int_: { type: "number" }, __proto__: {} },
    };
    const document = describeService(JSON.parse(JSON.stringify(inputSchema)) as Json);
    expect(document.components.schemas).toMatchObject({
      Gr__e__int_: { type: "integer" },
      Gr__e__int_2: { type: "number" },
    });
    expect(document.components.schemas["StartRequest"]).toMatchObject({
      properties: {
        data: {
          anyOf: [
            { $ref: "#/components/schemas/Gr__e__int_" },
            { $ref: "#/components/schemas/Gr__e__int_2" },
          ],
        },
      },
    });
    expect((await new Validator().validate({ ...document })).valid).toBe(true);
  });

  test("are named in no time, whoever declares thousands whose names become the same", () => {
    const letters = Array.from({ length: 7_000 }, (_, index) => String.fromCodePoint(0x4e00 + index));
    const $defs = Object.fromEntries(letters.map((letter) => [letter, {}]));
    const before = process.threadCpuUsage();
    const names = Object.keys(schemasOf({ $defs }));
    // Microseconds of processor time: other work of the machine is no matter.
    expect(process.threadCpuUsage(before).user).toBeLessThan(2_000_000);
    expect(names.filter((name) => name.startsWith("_"))).toHaveLength(letters.length);
  });

  test("lead discriminators to the components as well", () => {
    const schemas = schemasOf({
      properties: {
        data: {
          oneOf: [{ $ref: "#/$defs/Cat" }],
          discriminator: { propertyName: "kind", mapping: { cat: "#/$defs/Cat" } },
        },
      },
      $defs: { Cat: { type: "object", properties: { kind: { enum: ["cat"] } } } },
    });
    expect(JSON.stringify(schemas["StartRequest"])).toContain('"cat":"#/components/schemas/Cat"');
  });
});

test("two schemas with one title are refused", () => {
  const { refer } = createComponents();
  refer(Type.String({ title: "Name" }));
  expect(refer(Type.String({ title: "Name" }))).toEqual({ $ref: "#/components/schemas/Name" });
  expect(() => refer(Type.Integer({ title: "Name" }))).toThrow("Two different schemas have the title Name.");
});

test("a property that is called title is a property", () => {
  const { refer, schemas } = createComponents();
  expect(refer(Type.Object({ title: Type.String() }))).toMatchObject({
    properties: { title: { type: "string" } },
  });
  expect(schemas()).toEqual({});
});
