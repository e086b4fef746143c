import { AjvCompiler } from "@fastify/ajv-compiler";
import { SerializerSelector } from "@fastify/fast-json-stringify-compiler";
import { pino } from "pino";
import { expect, test } from "vitest";
import { GATEWAY_API, LOCAL_FEED_API } from "@platform/contract/feed";
import type { Operation } from "@platform/contract/operation";
import { PLATFORM_API } from "@platform/contract/platform-api/platform-api";
import { QUANTUM_API } from "@platform/contract/quantum-api/quantum-api";
import { SERVICE_API } from "@platform/contract/service-api";
import { VALIDATION } from "./body-check.ts";
import { createHttpServer } from "./server.ts";
import { describeChecks } from "./validation.ts";

/** Rejected by Ajv and by fast-json-stringify. */
const BROKEN = { type: "no such type" };

test("a schema is compiled with the first value that it is for, not at the start", async () => {
  const app = createHttpServer({ logger: pino({ level: "silent" }) });
  app.get("/checked", { schema: { querystring: BROKEN } }, async () => ({}));
  app.get("/written", { schema: { response: { 200: BROKEN } } }, async () => ({}));
  await app.ready();
  expect((await app.inject("/healthz")).statusCode).toBe(200);
  expect((await app.inject("/checked")).statusCode).toBe(500);
  expect((await app.inject("/written")).statusCode).toBe(500);
  await app.close();
});

test("each value has what is wrong with it, and not with another one", async () => {
  const app = createHttpServer({ logger: pino({ level: "silent" }) });
  const querystring = { type: "object", properties: { a: { const: "1" }, b: { const: "2" } } };
  app.get("/", { schema: { querystring } }, async () => ({}));
  for (const [query, path] of [
    ["a=0", "/a"],
    ["b=0", "/b"],
  ])
    expect((await app.inject(`/?${query}`)).json()).toMatchObject({
      code: "INVALID_INPUT",
      errors: [{ path: expect.stringContaining(path ?? "") }],
    });
  expect((await app.inject("/?a=1&b=2")).statusCode).toBe(200);
  await app.close();
});

const OPERATIONS = Object.entries<Operation>({
  ...SERVICE_API,
  ...GATEWAY_API,
  ...LOCAL_FEED_API,
  ...PLATFORM_API,
  ...QUANTUM_API,
});

test("the schemas of every operation can be compiled", () => {
  const check = AjvCompiler()({}, { customOptions: VALIDATION });
  const write = SerializerSelector()();
  const broken = OPERATIONS.flatMap(([name, operation]) => {
    const { params, querystring, body, response } = describeChecks(operation, undefined).schema ?? {};
    try {
      // As Fastify asks for them.
      for (const schema of [params, querystring, body]) if (schema !== undefined) check({ schema });
      for (const [httpStatus, schema] of Object.entries(response ?? {}))
        write({ schema, httpStatus, method: operation.method, url: operation.path });
      return [];
    } catch (error) {
      return [`${name}: ${String(error)}`];
    }
  });
  expect(broken).toEqual([]);
  expect(OPERATIONS.length).toBeGreaterThan(100);
});
