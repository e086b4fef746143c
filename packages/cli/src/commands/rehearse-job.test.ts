import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { usePeer } from "../testing/peer-scene.ts";
import { TOKEN } from "../testing/platform-peer.ts";

const scene = usePeer({ service: "demo" });
const run = (...words: readonly string[]) => scene.run(["run", "demo", "--batch", "jobs.jsonl", ...words]);
const writeLines = (...lines: readonly string[]) =>
  writeFile(join(scene.home.directory, "jobs.jsonl"), `${lines.join("\n")}\n`);

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
  const answer = await fetch(`${scene.peer.url}/api/jobs`, { headers: { authorization: `Bearer ${TOKEN}` } });
  expect(await answer.json()).toMatchObject({ items: [] });
});

test("run --batch --dry-run with a key that has started a batch is no rehearsal, and says so", async () => {
  await writeLines("{}");
  const started = await run("--idempotency-key", "one", "--detached", "--json");
  const { id } = JSON.parse(started.stdout) as { readonly id: string };
  const { exitCode, stderr } = await run("--idempotency-key", "one", "--dry-run");
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining(`The batch ${id} is there`)]);
});
