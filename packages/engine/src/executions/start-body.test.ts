import { MAX_INPUT_BYTES } from "@platform/contract/limits";
import { Problem } from "@platform/contract/problems";
import { describe, expect, test } from "vitest";
import { acceptStartBody } from "./start-body.ts";

const encode = (text: string) => new TextEncoder().encode(text);
const UUID = "01890a5d-ac96-774b-bcce-b302099a8057";
const REFERENCE = { dataPoolId: UUID, dataSourceDescriptorId: UUID, fileId: UUID };

function refuse(body: string | Uint8Array): Problem {
  try {
    acceptStartBody(typeof body === "string" ? encode(body) : body);
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error("the body was accepted");
}

function nest(levels: number): string {
  return `{"data":{"a":${"[".repeat(levels)}${"]".repeat(levels)}}}`;
}

describe("acceptStartBody", () => {
  test.each([
    "{}",
    '{"data":{}}',
    '{"params":{"shots":1}}',
    ' {"data" : {"__proto__": {"a": 1}} , "params" : {} } ',
  ])("accepts %s", (body) => {
    expect(acceptStartBody(encode(body)).bytes).toEqual(encode(body));
  });

  test("accepts data by value with params by reference, and the other way round", () => {
    expect(acceptStartBody(encode(JSON.stringify({ data: {}, paramsRef: REFERENCE }))).references).toEqual({
      params: REFERENCE,
    });
    expect(acceptStartBody(encode(JSON.stringify({ dataRef: REFERENCE, params: {} }))).references).toEqual({
      data: REFERENCE,
    });
  });

  test("accepts where the result is stored besides", () => {
    for (const persistTo of [{ dataPoolId: UUID }, { dataPoolId: UUID, name: "route.json" }])
      expect(acceptStartBody(encode(JSON.stringify({ persistTo }))).persistTo).toEqual(persistTo);
    expect(acceptStartBody(encode("{}"))).not.toHaveProperty("persistTo");
  });

  test.each([
    ["2026-11-24T18:00:00+01:00", "2026-11-24T17:00:00.000Z"],
    ["2026-11-24T17:00Z", "2026-11-24T17:00:00.000Z"],
    ["2026-11-24T17:00:00.250Z", "2026-11-24T17:00:00.250Z"],
    ["2026-11-24 17:00:00", "2026-11-24T17:00:00.000Z"],
    ["2028-02-29 00:00:00", "2028-02-29T00:00:00.000Z"],
  ])("takes %s as the time at which the execution is to begin", (startAt, time) => {
    expect(acceptStartBody(encode(JSON.stringify({ startAt }))).startAt).toBe(Date.parse(time));
  });

  test.each([
    "",
    "soon",
    "2026-11-24",
    "2026-11-24T17:00:00",
    "2026-11-24 17:00:00Z",
    "2026-02-30T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-11-24T25:00:00Z",
    "2026-11-24T17:00:00+99:00",
    "+002026-11-24T17:00:00Z",
    "2026-11-24T17:00:00Z\n",
    `2026-11-24T17:00:00.${"0".repeat(100_000)}Z`,
    1_800_000_000,
    null,
    { at: 1 },
  ])("says of %j that it is no time with a zone", (startAt) => {
    const problem = refuse(JSON.stringify({ startAt }));
    expect([problem.status, problem.code]).toEqual([400, "INVALID_INPUT"]);
    expect(problem.errors).toMatchObject([{ path: "/startAt" }]);
  });

  test.each([1, 600, 604_800])("takes %j as the seconds in which it must have begun", (startWithin) => {
    expect(acceptStartBody(encode(JSON.stringify({ startWithin }))).startWithin).toBe(startWithin);
  });

  test.each(["0", "-1", "604801", "1.5", "1e400", '"600"', '"10m"', "null", "true", "[600]", "{}"])(
    "says of %s that it is no number of seconds from 1 to a week",
    (text) => {
      const problem = refuse(`{"startWithin":${text}}`);
      expect([problem.status, problem.code]).toEqual([400, "INVALID_INPUT"]);
      expect(problem.errors).toEqual([
        { path: "/startWithin", message: expect.stringContaining("from 1 to 604800.") },
      ]);
    },
  );

  test.each(["", "a/b", "x".repeat(300), "\u202egpj.exe", "a.", " a", "a\0b"])(
    "says of the name %j, which the schema allows, that no file can have it",
    (name) => {
      const problem = refuse(JSON.stringify({ persistTo: { dataPoolId: UUID, name } }));
      expect([problem.status, problem.code]).toEqual([422, "DATA_REFERENCE_INVALID"]);
      expect(problem.errors).toMatchObject([{ path: "/persistTo/name" }]);
    },
  );

  test.each([
    ["an empty body", "", "INVALID_JSON"],
    ["text that is not JSON", "{data:1}", "INVALID_JSON"],
    ["NaN", '{"data":{"a":NaN}}', "INVALID_JSON"],
    ["invalid UTF-8", new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), "INVALID_JSON"],
    ["an array", "[]", "INVALID_INPUT"],
    ["a string", '"data"', "INVALID_INPUT"],
    ["null", "null", "INVALID_INPUT"],
    ["an unknown key", '{"data":{},"shots":1}', "INVALID_INPUT"],
    ["a __proto__ key", '{"__proto__":{"data":{}}}', "INVALID_INPUT"],
    ["data and dataRef", JSON.stringify({ data: {}, dataRef: REFERENCE }), "INVALID_INPUT"],
    ["params and paramsRef", JSON.stringify({ params: {}, paramsRef: REFERENCE }), "INVALID_INPUT"],
    ["data that is an array", '{"data":[]}', "INVALID_INPUT"],
    ["params that is null", '{"params":null}', "INVALID_INPUT"],
    [
      "a reference that lacks an id",
      JSON.stringify({ dataRef: { dataPoolId: UUID, fileId: UUID } }),
      "INVALID_INPUT",
    ],
    [
      "a reference whose ids are no UUIDs",
      JSON.stringify({ dataRef: { ...REFERENCE, fileId: "../secret" } }),
      "INVALID_INPUT",
    ],
    ["a result that goes to no pool", '{"persistTo":{"name":"a"}}', "INVALID_INPUT"],
    ["a result that goes to no UUID", '{"persistTo":{"dataPoolId":"x"}}', "INVALID_INPUT"],
    [
      "a name that is a number",
      JSON.stringify({ persistTo: { dataPoolId: UUID, name: 1 } }),
      "INVALID_INPUT",
    ],
    ["a key that stands twice", '{"data":{"a":1},"data":{"a":2}}', "INVALID_INPUT"],
    ["100,000 levels of nesting", nest(100_000), "INVALID_INPUT"],
  ])("refuses %s", (_, body, code) => {
    const problem = refuse(body);
    expect(problem.code).toBe(code);
    expect(problem.message).toMatch(/[^.]\.$/u);
  });

  test("names every field at fault with a JSON pointer", () => {
    expect(refuse('{"data":[],"a/b":1}').errors?.map((error) => error.path)).toEqual(["/a~1b", "/data"]);
  });

  test("answers a body of unknown or long keys with less than was sent", () => {
    const keys = Array.from({ length: 100_000 }, (_, at) => `"${at}":1`);
    const unknown = refuse(`{${keys.join(",")}}`);
    expect(unknown.errors).toHaveLength(20);
    expect(JSON.stringify(unknown.toBody()).length).toBeLessThan(5_000);
    const long = `"${"k".repeat(100_000)}":1`;
    expect(JSON.stringify(refuse(`{${long},${long}}`).toBody()).length).toBeLessThan(1_000);
  });

  test.each(["data", "params"])(
    "accepts 1 MB of %s to the byte, and refuses one byte more naming the reference",
    (key) => {
      const frame = '{"a":""}'.length;
      const largest = `{"${key}": {"a":"${"x".repeat(MAX_INPUT_BYTES - frame)}"} }`;
      expect(acceptStartBody(encode(largest)).bytes).toHaveLength(largest.length);
      const problem = refuse(`{"${key}": {"a":"${"x".repeat(MAX_INPUT_BYTES - frame + 1)}"} }`);
      expect(problem.code).toBe("INPUT_TOO_LARGE");
      expect(problem.message).toContain(`${key}Ref`);
    },
  );
});
