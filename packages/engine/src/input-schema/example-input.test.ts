import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { writeFiles } from "../testing/project-fixtures.ts";
import { readExampleInput, readExampleTexts } from "./example-input.ts";

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

async function read(files: Readonly<Record<string, string>>) {
  const folder = await mkdtemp(join(tmpdir(), "example-"));
  folders.push(folder);
  await writeFiles(folder, { "platform.json": "{}", ...files });
  const log: string[] = [];
  return { example: await readExampleInput(folder, (line) => log.push(line)), log };
}

test("the example input is that of the project's files, and of one where there is one", async () => {
  expect(await read({ "input/data.json": '{"n": [1, 2.5, 1e-3]}', "input/params.json": "{}" })).toEqual({
    example: { data: { n: [1, 2.5, 0.001] }, params: {} },
    log: [],
  });
  const { example } = await read({ "input/data.json": '{"id": 12345678901234567890, "x": [1e400, 1.0]}' });
  expect(JSON.stringify(example)).toBe('{"data":{"id":12345678901234567890,"x":[1e400,1]}}');
  expect((await read({ "input/data.json": '{"x": 1e-16383}' })).log).toEqual([]);
  expect((await read({ "input/params.json": '{"seed": 7}' })).example).toEqual({ params: { seed: 7 } });
  expect(await read({})).toEqual({ example: null, log: [] });
  expect(await read({ "input/data.json/readme.txt": "a folder" })).toEqual({ example: null, log: [] });
});

test.each([
  ["is no JSON object", "[1]"],
  ["is no JSON object", "null"],
  ["is no JSON object", "12345678901234567890"],
  ["is not JSON", '{"n": 1'],
  ["is not JSON", ""],
  ["together it is larger than 65536 bytes", '{"x": [1e999999]}'],
  ["together it has a number with more than 16383 digits behind its point", '{"x": [1.5e-16383]}'],
  ["is nested deeper than 100 levels", `{"x": ${"[".repeat(200)}${"]".repeat(200)}}`],
  ["is larger than 65536 bytes", JSON.stringify({ x: "x".repeat(65_536) })],
  ["together it has a null character or half a surrogate pair in a text", '{"x": "\\u0000"}'],
  ["together it has a null character or half a surrogate pair in a text", '{"x": "\\ud800"}'],
])("an example that %s is not shown, and the log says why", async (why, text) => {
  const { example, log } = await read({ "input/data.json": text, "input/params.json": '{"seed": 1}' });
  expect(example).toBeNull();
  expect(log).toEqual([expect.stringContaining(why)]);
});

test("as texts, an example keeps its digits, and each part is there on its own", async () => {
  const folder = await mkdtemp(join(tmpdir(), "example-"));
  folders.push(folder);
  const data = '{"id": 12345678901234567890, "x": 1e400}';
  await writeFiles(folder, { "platform.json": "{}", "input/data.json": data, "input/params.json": "[1]" });
  expect(await readExampleTexts(folder)).toEqual({
    texts: { data, params: null },
    faults: ["input/params.json is no JSON object"],
  });
});
