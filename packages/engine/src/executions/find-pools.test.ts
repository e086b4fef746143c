import { expect, test } from "vitest";
import { MAX_NAMED_POOLS } from "../store/pool-limits.ts";
import { findOutputPool, findPools } from "./find-pools.ts";

const ID = "11111111-1111-4111-8111-111111111111";
const POOL = { type: "object", format: "data-pool", properties: { dataPoolId: { type: "string" } } };
const SCHEMA = {
  type: "object",
  properties: {
    data: { $ref: "#/$defs/DataPool" },
    params: {
      type: "object",
      properties: {
        maps: { $ref: "#/$defs/DataPool" },
        more: { anyOf: [{ $ref: "#/$defs/DataPool" }, { type: "null" }] },
        deep: { type: "object", properties: { maps: POOL } },
        plain: { type: "object" },
      },
    },
  },
  $defs: { DataPool: POOL },
};

test("the schema says where pools stand: data or params themselves, or their members, also where they may be null", () => {
  const pool = { dataPoolId: ID };
  const params = { maps: pool, more: pool, plain: pool, deep: { maps: pool }, other: pool };
  expect(findPools(SCHEMA, { data: pool, params })).toEqual([
    { path: ["data"], dataPoolId: ID },
    { path: ["params", "maps"], dataPoolId: ID },
    { path: ["params", "more"], dataPoolId: ID },
  ]);
});

test("a start names at most so many pools, the same one counts each time; what is null does not", () => {
  const names = Array.from({ length: MAX_NAMED_POOLS + 1 }, (_, number) => `pool${number}`);
  const properties = Object.fromEntries(names.map((name) => [name, { $ref: "#/$defs/DataPool" }]));
  const schema = { ...SCHEMA, properties: { params: { type: "object", properties } } };
  const params = Object.fromEntries(names.map((name) => [name, { dataPoolId: ID }]));
  const allowed = { ...params, pool0: null };
  expect(findPools(schema, { data: undefined, params: allowed })).toHaveLength(MAX_NAMED_POOLS);
  expect(() => findPools(schema, { data: undefined, params })).toThrow(
    expect.objectContaining({
      code: "DATA_REFERENCE_INVALID",
      status: 422,
      message: expect.stringContaining(`at most ${MAX_NAMED_POOLS}`),
    }),
  );
});

test("what is missing or null is no pool", () => {
  expect(findPools(SCHEMA, { data: undefined, params: { more: null } })).toEqual([]);
  expect(findPools(SCHEMA, { data: undefined, params: undefined })).toEqual([]);
});

test.each([
  null,
  {},
  { properties: 1 },
  { properties: { params: true } },
  { properties: { params: { $ref: "#/$defs/none" } }, $defs: {} },
  { properties: { params: { $ref: "#/$defs/a" } }, $defs: { a: { $ref: "#/$defs/a" } } },
  { properties: { params: { properties: { maps: { anyOf: {} } } } } },
  { properties: { params: { properties: { maps: { format: 7 } } } } },
])("a schema that says nothing of pools, or is broken, has none: %j", (schema) => {
  expect(findPools(schema, { data: {}, params: { maps: { dataPoolId: ID } } })).toEqual([]);
});

test.each([{}, "text", 7, { dataPoolId: "../../x" }, { dataPoolId: null }, [ID]])(
  "%j in the place of a pool is refused with its place",
  (maps) => {
    expect(() => findPools(SCHEMA, { data: undefined, params: { maps } })).toThrow(
      expect.objectContaining({
        code: "INVALID_INPUT",
        errors: [expect.objectContaining({ path: "/params/maps" })],
      }),
    );
  },
);

test("a member of the schema that every object has is none of the body", () => {
  const schema = { properties: { params: { properties: { constructor: POOL } } } };
  expect(findPools(schema, { data: undefined, params: {} })).toEqual([]);
});

const OUTPUT = { type: "object", format: "output-pool", properties: { dataPoolId: { type: "string" } } };
const WRITING = {
  type: "object",
  properties: {
    params: {
      type: "object",
      properties: {
        maps: { $ref: "#/$defs/DataPool" },
        tours: { $ref: "#/$defs/OutputPool" },
        more: { anyOf: [{ $ref: "#/$defs/OutputPool" }, { type: "null" }] },
      },
    },
  },
  $defs: { DataPool: POOL, OutputPool: OUTPUT },
};

test("an output pool is found as those that are read, is none of them, and is one at most", () => {
  const pool = { dataPoolId: ID };
  const find = (params: Readonly<Record<string, unknown>>) =>
    findOutputPool(WRITING, { data: undefined, params });
  expect(find({ maps: pool, tours: pool, more: null })).toEqual({
    path: ["params", "tours"],
    dataPoolId: ID,
  });
  expect(findPools(WRITING, { data: undefined, params: { maps: pool, tours: pool } })).toEqual([
    { path: ["params", "maps"], dataPoolId: ID },
  ]);
  expect(find({ maps: pool })).toBeNull();
  expect(() => find({ tours: pool, more: pool })).toThrow(
    expect.objectContaining({
      code: "DATA_REFERENCE_INVALID",
      message: expect.stringContaining("at most one"),
    }),
  );
  expect(() => find({ tours: { dataPoolId: "x" } })).toThrow(
    expect.objectContaining({ code: "INVALID_INPUT" }),
  );
});
