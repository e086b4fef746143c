import { cp } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { request } from "../../tools/platform-client.ts";
import { createSample } from "./sample.ts";
import type { Sample } from "./sample.ts";
import { installOrFail, runOk } from "./tools.ts";
import { IS_FULL_LENGTH } from "../support/full-length.ts";

/** `npm run test:clients` sends ten times as many requests for each operation, and takes 11 minutes rather than one: seconds after which no more requests are made; other files run beside this one. */
const WITHIN = IS_FULL_LENGTH ? { service: 220, platform: 440 } : { service: 20, platform: 30 };
const MINUTE = 60_000;
const OPTIONS = IS_FULL_LENGTH ? { timeout: 20 * MINUTE } : {};
const PASSED = /[1-9]\d+ generated, \d+ passed/;

let sample: Sample;
let python: string;

beforeAll(async () => {
  [sample, python] = await Promise.all([createSample(), installOrFail("python")]);
});
afterAll(() => sample?.close());

/** Sends requests that fit a document and such that do not, judges the answers by it, and fails with what it found. */
async function explore(name: string, url: string, token: string, seconds: number): Promise<string> {
  // It reads its settings, and keeps a record of its runs, in the folder in which it is started.
  const folder = await sample.createFolder(`schemathesis-${name}`);
  for (const file of ["schemathesis.toml", "schemathesis_hooks.py"])
    await cp(fileURLToPath(new URL(file, import.meta.url)), join(folder, file));
  const command = [join(python, "bin/python"), join(python, "bin/schemathesis"), "run"];
  const flags = ["--header", `Authorization: Bearer ${token}`, "--max-time", String(seconds)];
  if (IS_FULL_LENGTH) flags.push("--max-examples", "100");
  return await runOk([...command, url, ...flags], { cwd: folder });
}

test("schemathesis finds nothing in the service API", OPTIONS, async () => {
  const { endpoint, token } = sample.consumer;
  const report = await explore("service", `${endpoint}openapi.json`, token, WITHIN.service);
  expect(report).toMatch(PASSED);
  // What it did must not have shut it out: every answer would be a 401, which is documented.
  expect((await request("GET", endpoint, { token })).status).toBe(200);
});

test("schemathesis finds nothing in the platform API", { ...OPTIONS, tags: "full" }, async () => {
  const token = sample.world.login.personalAccessToken;
  const url = `${sample.world.platform.apiUrl}/api`;
  const report = await explore("platform", `${url}/openapi.json`, token, WITHIN.platform);
  expect(report).toMatch(PASSED);
  expect((await request("GET", `${url}/me`, { token })).status).toBe(200);
});
