import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createCliHome } from "../testing/cli-process.ts";
import type { CliHome } from "../testing/cli-process.ts";
import { TOKEN, startPlatformPeer } from "../testing/platform-peer.ts";
import type { PlatformPeer } from "../testing/platform-peer.ts";

let home: CliHome;
let peer: PlatformPeer;

beforeEach(async () => {
  [home, peer] = await Promise.all([createCliHome(), startPlatformPeer()]);
  const headers = { "content-type": "application/json", authorization: `Bearer ${TOKEN}` };
  const created = await fetch(`${peer.url}/api/services`, {
    method: "POST",
    headers,
    body: '{"name":"demo"}',
  });
  if (!created.ok) throw new Error(`the service was not created: ${created.status}`);
});
afterEach(async () => {
  await Promise.all([home.close(), peer.close()]);
});

const run = (...words: readonly string[]) =>
  home.run(["run", "demo", "--batch", "jobs.jsonl", ...words], {
    variables: { PLATFORM_ENDPOINT: peer.url, PLATFORM_PERSONAL_ACCESS_TOKEN: TOKEN },
  });
const writeLines = (...lines: readonly string[]) =>
  writeFile(join(home.directory, "jobs.jsonl"), `${lines.join("\n")}\n`);

test("run --batch --dry-run says of each line whether it would be started, and starts none", async () => {
  await writeLines("{}", '{"data": 17}', '{"data": {"n": 1}}');
  const { exitCode, stdout, stderr } = await run("--dry-run");
  expect(exitCode).toBe(1);
  expect(stderr).toContain("Item 2 would not be started: INVALID_INPUT");
  expect(stdout).toContain("Valid    2 of 3\nThe last of them, item 3:\nWaiting  ");
  expect(stdout).toContain("Nothing was started.");
  await writeLines("{}", "{}");
  const whole = await run("--dry-run", "--json");
  expect(whole.exitCode).toBe(0);
  expect(JSON.parse(whole.stdout)).toMatchObject({ valid: true, total: 2, refused: 0 });
  const answer = await fetch(`${peer.url}/api/jobs`, { headers: { authorization: `Bearer ${TOKEN}` } });
  expect(await answer.json()).toMatchObject({ items: [] });
});

test("run --batch --dry-run with a key that has started a batch is no rehearsal, and says so", async () => {
  await writeLines("{}");
  const started = await run("--idempotency-key", "one", "--detached", "--json");
  const { id } = JSON.parse(started.stdout) as { readonly id: string };
  const { exitCode, stderr } = await run("--idempotency-key", "one", "--dry-run");
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining(`The batch ${id} is there`)]);
});
