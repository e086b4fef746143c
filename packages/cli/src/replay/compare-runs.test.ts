import { expect, test } from "vitest";
import { compareRuns, findDifference } from "./compare-runs.ts";

const bytes = (text: string) => Buffer.from(text);
const hosted = (result: string) => bytes(`{"result":${result},"metadata":null,"_links":{},"_embedded":{}}`);
const local = (members: string) => bytes(`{${members},"_links":{},"_embedded":{}}`);
const details = (status: string) => ({ status }) as Parameters<typeof compareRuns>[0]["details"];
const compare = (first: [string, Uint8Array], second: [string, Uint8Array]) =>
  compareRuns(
    { details: details(first[0]), answer: first[1], body: bytes("{}"), claims: {} },
    { status: second[0], answer: second[1], claims: {} },
  );

const failed = (code: string): [string, Uint8Array] => ["FAILED", bytes(`{"code":"${code}","detail":"no"}`)];

test("equal results are equal in both forms of an answer, and one that is written in another way is not", () => {
  const original: [string, Uint8Array] = ["SUCCEEDED", hosted('{"a":1.0,"b":"x"}')];
  expect(compare(original, ["SUCCEEDED", local('"a":1.0,"b":"x"')])).toMatchObject({
    isIdentical: true,
    difference: null,
  });
  expect(compare(original, ["SUCCEEDED", local('"a":1,"b":"x"')])).toMatchObject({
    isIdentical: false,
    difference: { offset: 6, original: '{"a":1.0,"b":"x"}', local: '{"a":1,"b":"x"}' },
  });
});

test("another end is no equal one, whatever the results are", () => {
  expect(compare(failed("TIMEOUT"), failed("TIMEOUT")).isIdentical).toBe(true);
  expect(compare(failed("TIMEOUT"), failed("EXECUTION_ERROR"))).toMatchObject({
    isIdentical: false,
    code: { original: "TIMEOUT", local: "EXECUTION_ERROR" },
  });
  expect(compare(["SUCCEEDED", hosted("{}")], failed("TIMEOUT")).isIdentical).toBe(false);
  expect(compare(failed("TIMEOUT"), ["SUCCEEDED", local('"a":1')]).isIdentical).toBe(false);
});

test("the first difference is that of the bytes, also where one is the beginning of the other", () => {
  expect(findDifference(bytes("abc"), bytes("abcd"))).toEqual({ offset: 3, original: "abc", local: "abcd" });
  const long = "x".repeat(1_000);
  const found = findDifference(bytes(`${long}1${long}`), bytes(`${long}2${long}`));
  expect(found).toMatchObject({ offset: 1_000, original: `${"x".repeat(40)}1${"x".repeat(39)}` });
});

test("what both receipts say is compared, and nothing is said where one is missing", () => {
  const first = { details: details("SUCCEEDED"), answer: hosted("{}"), body: bytes("{}") };
  const second = { status: "SUCCEEDED", answer: local('"a":1') };
  const said = { versionDigest: "a", python: "3.13.1", sandboxLevel: "A" };
  expect(
    compareRuns({ ...first, claims: said }, { ...second, claims: { ...said, python: "3.12.0" } }).same,
  ).toEqual({ version: true, python: false, isolation: true });
  expect(compareRuns({ ...first, claims: {} }, { ...second, claims: said }).same).toEqual({});
});
