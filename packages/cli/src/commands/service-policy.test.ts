import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { TOKEN } from "../testing/platform-peer.ts";
import { usePeer } from "../testing/peer-scene.ts";

const scene = usePeer();

beforeEach(async () => {
  await fetch(`${scene.peer.url}/api/services`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    body: '{"name":"tsp"}',
  });
});

async function run(...words: string[]) {
  return await scene.run(["services", "policy", "tsp", ...words]);
}

test("settings are changed one by one, the others stay, and 0 takes a limit back", async () => {
  const none = await run();
  expect(none.stdout).toContain("Revision  none: nothing was ever set");
  expect(none.stdout).toContain("Timeout   as the version says\nPriority  normal\nAt once   no limit\n");
  expect((await run("--timeout", "600")).stdout).toContain("Timeout   600 s");
  const { stdout } = await run("--priority", "low", "--json");
  expect(JSON.parse(stdout)).toMatchObject({
    revision: 2,
    policy: { timeoutSeconds: 600, priority: "low" },
  });
  expect(JSON.parse((await run("--timeout", "0", "--json")).stdout)).toMatchObject({
    policy: { priority: "low" },
  });
  const limited = await run("--concurrency", "8", "--per-subscription", "2");
  expect(limited.stdout).toContain("At once   8 of the service, 2 of one subscription");
  expect(JSON.parse((await run("--concurrency", "0", "--json")).stdout)).toMatchObject({
    policy: { priority: "low", concurrency: { subscription: 2 } },
  });
  const unlimited = await run("--per-subscription", "0", "--json");
  expect(JSON.parse(unlimited.stdout)).not.toHaveProperty("policy.concurrency");
  expect((await run("--start-within", "10m")).stdout).toContain("Begins    within 600 s");
  const kept = await run("--timeout", "600", "--json");
  expect(JSON.parse(kept.stdout)).toMatchObject({ policy: { startWithinSeconds: 600, timeoutSeconds: 600 } });
  const unbound = await run("--start-within", "0", "--json");
  expect(JSON.parse(unbound.stdout)).not.toHaveProperty("policy.startWithinSeconds");
  expect(await run("--start-within", "soon")).toMatchObject({ exitCode: 2 });
  expect((await run("--revisions")).stdout).toMatch(
    /^9 .*\n8 .*\n7 .*\n6 .*\n5 .*\n4 .*\n3 .*\n2 .*600.*\n1 /mu,
  );
});

test("the policy is replaced as a whole by a file; what is no JSON object, is not there, or is set twice, is refused", async () => {
  await writeFile(join(scene.home.directory, "policy.json"), '{"priority": "low"}');
  await run("--timeout", "600");
  const set = await run("--set", "policy.json", "--json");
  expect(JSON.parse(set.stdout)).toMatchObject({ policy: { priority: "low" } });
  expect(JSON.parse(set.stdout)).not.toHaveProperty("policy.timeoutSeconds");
  for (const text of ["[]", "null", "no", ""]) {
    await writeFile(join(scene.home.directory, "wrong.json"), text);
    expect(await run("--set", "wrong.json")).toMatchObject({ exitCode: 2 });
  }
  expect((await run("--set", "missing.json")).stderr).toContain("does not exist");
  expect((await run("--set", "policy.json", "--timeout", "5")).exitCode).toBe(2);
  expect((await run("--revisions", "--priority", "low")).exitCode).toBe(2);
  expect((await run("--priority", "highest")).exitCode).toBe(2);
});
