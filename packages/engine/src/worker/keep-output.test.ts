import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Problem } from "@platform/contract/problems";
import { createFolderResults } from "../content/folder-results.ts";
import type { ReceivedContent } from "../content/result-store.ts";
import { createJsonCheck } from "../json-check/json-check.ts";
import type { JsonCheck } from "../json-check/json-check.ts";
import { createExecution } from "../testing/execution-fixtures.ts";
import { SILENT } from "../testing/silent-logger.ts";
import type { Outcome } from "../python/port/runtime.ts";
import { keepOutput } from "./keep-output.ts";
import type { KeepDeps } from "./keep-output.ts";

const claim = { ...createExecution(), attempt: 1, workerId: "worker", setbacks: 0 };
const away = () => Promise.reject(new Problem("UNAVAILABLE"));

let directory: string;
let jsonCheck: JsonCheck;
let writer: FileHandle | null = null;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "keep-output-"));
  jsonCheck = createJsonCheck();
});
afterEach(async () => {
  await writer?.close();
  writer = null;
  await jsonCheck.close();
  rmSync(directory, { recursive: true });
});

async function receive(text: string, keep?: ReceivedContent["keep"], path?: string): Promise<Outcome> {
  const results = createFolderResults(directory);
  const result = await results.receive(Readable.from([Buffer.from(text)]), text.length);
  return {
    status: "SUCCEEDED",
    result: new Uint8Array(),
    metadata: Buffer.from('{"own":1,"_usage":{"cpuSeconds":1.5}}'),
    cpuSeconds: 1.5,
    output: { result: { ...result, path: path ?? result.path, keep: keep ?? result.keep }, files: [] },
  };
}

const keep = (
  outcome: Outcome,
  isHeld = () => true,
  times: Pick<KeepDeps, "checkForMs" | "keepForMs"> = {},
) => keepOutput({ jsonCheck, logger: SILENT, ...times }, { claim, outcome }, isHeld);

const HASH = /^[0-9a-f]{64}$/u;

test("a result is kept by its name, and the outcome stays", async () => {
  const outcome = await receive('{"a":[1,2]}');
  expect(await keep(outcome)).toBe(outcome);
  expect(readdirSync(directory)).toEqual([expect.stringMatching(HASH)]);
});

test.each([
  '{"a":[1,}',
  '{"a":1}{"b":2}',
  '{"a":01}',
  `{"a":${"[".repeat(300)}${"]".repeat(300)}}`,
  '{"a":"\n"}',
])("text that is not JSON inside is no result, and is not kept: %s", async (text) => {
  const usage = { _usage: { cpuSeconds: 1.5 } };
  expect(await keep(await receive(text))).toEqual({
    status: "FAILED",
    code: "INVALID_RESULT",
    detail: expect.stringContaining("The result is not JSON: "),
    metadata: usage,
    cpuSeconds: 1.5,
  });
  expect(readdirSync(directory)).not.toEqual([expect.stringMatching(HASH)]);
});

test("a store that is away is tried again while the claim is held", async () => {
  let tries = 0;
  const outcome = await receive('{"a":1}', () => ((tries += 1) < 3 ? away() : Promise.resolve()));
  expect(await keep(outcome)).toBe(outcome);
  expect(tries).toBe(3);
});

test("a store that stays away is a failure that says so, after the time that was set", async () => {
  const failed = await keep(await receive('{"a":1}', away), () => true, { keepForMs: 0 });
  expect(failed).toMatchObject({ status: "FAILED", code: "RESULT_NOT_STORED", cpuSeconds: 1.5 });
});

test("a result that is read without end is a failure that says so, after the time that was set", async () => {
  const path = join(directory, "without-end");
  execFileSync("mkfifo", [path]);
  // Whoever reads it waits for as long as somebody may write to it.
  writer = await open(path, "r+");
  const received = await receive('{"a":1}', undefined, path);
  expect(await keep(received, () => true, { checkForMs: 1 })).toMatchObject({
    status: "FAILED",
    code: "RESULT_NOT_STORED",
    cpuSeconds: 1.5,
  });
});

test("a store that fails for good is not tried again", async () => {
  let tries = 0;
  const broken = () => Promise.reject(new Error(`broken ${(tries += 1)}`));
  expect(await keep(await receive('{"a":1}', broken))).toMatchObject({ code: "RESULT_NOT_STORED" });
  expect(tries).toBe(1);
});

test("nothing is tried any more, and nothing is to be written, once the claim is lost", async () => {
  let tries = 0;
  const outcome = await receive('{"a":1}', () => {
    tries += 1;
    return away();
  });
  expect(await keep(outcome, () => tries < 2)).toBeNull();
  expect(tries).toBe(2);
});
