import { expect, test } from "vitest";
import { NEW_TOKEN } from "../testing/access.ts";
import { usePeer } from "../testing/peer-scene.ts";

const scene = usePeer();
const run = (...words: string[]) => scene.run(["tokens", ...words]);

test("tokens create prints the value alone on standard output, and what it is beside it", async () => {
  const { exitCode, stdout, stderr } = await run("create", "ci", "--scopes", "run, deploy");
  expect([exitCode, stdout]).toEqual([0, `${NEW_TOKEN}\n`]);
  expect(stderr).toContain("(run, deploy)");
  expect(stderr).not.toContain(NEW_TOKEN);
});

test("tokens create asks for the least scope unless told more", async () => {
  const { stdout } = await run("create", "dashboard", "--json");
  expect(JSON.parse(stdout)).toMatchObject({ name: "dashboard", scopes: ["read"], token: NEW_TOKEN });
});

test("tokens create refuses an unknown scope before it asks the platform", async () => {
  const { exitCode, stderr } = await run("create", "ci", "--scopes", "root");
  expect(exitCode).toBe(2);
  expect(stderr).toContain(
    "'root' is not a scope; use read, run, deploy, admin, quantum, separated by commas.",
  );
  expect(scene.peer.requests).toEqual([]);
});

test("tokens ls shows what each token opens and when it was used", async () => {
  const { exitCode, stdout } = await run("ls");
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(
    /NAME +SCOPES +LAST USED +EXPIRES +ID\nci +deploy +- +2027-02-18 21:17:00 +token-1/u,
  );
});

test("tokens rm revokes by id, and fails where there is no such token", async () => {
  expect(await run("rm", "token-1")).toMatchObject({ exitCode: 0, stdout: "Revoked.\n" });
  expect((await run("rm", "token-2")).exitCode).toBe(1);
});

test("tokens create says when a token lives shorter than was asked for", async () => {
  const { exitCode, stdout, stderr } = await run("create", "ci", "--days", "3650");
  expect([exitCode, stdout]).toEqual([0, `${NEW_TOKEN}\n`]);
  expect(stderr).toContain("It does not live 3650 days");
  expect((await run("create", "ci", "--days", "90")).stderr).not.toContain("does not live");
});
