import { expect, test } from "vitest";
import { usePeer } from "../testing/peer-scene.ts";

const scene = usePeer({ service: "demo" });
const call = (...words: readonly string[]) => scene.run(["versions", "demo", ...words]);

test("one version is shown with what it was built of, and nothing of it steers the terminal", async () => {
  const { exitCode, stdout } = await call("--version", "1.0.0");
  expect(exitCode).toBe(0);
  expect(stdout).toContain("Version   1.0.0 (RETIRED)\n");
  expect(stdout).toContain("Input     does not take what 0.9.0 takes: data needs n\n");
  expect(stdout).toMatch(/Installed these:\n {2}numpy==2\.0\n/u);
  expect(stdout).not.toContain("\u001b");
});

test("as JSON it has all that is known, and one that is not there is named with its code", async () => {
  const found = await call("--version", "1.0.0", "--json");
  expect(JSON.parse(found.stdout)).toMatchObject({ version: "1.0.0", exampleInput: { data: { n: 5 } } });
  const missing = await call("--version", "2.0.0", "--json");
  expect(missing.exitCode).toBe(1);
  expect(JSON.parse(missing.stdout)).toMatchObject({ error: { code: "SERVICE_NOT_FOUND" } });
});
