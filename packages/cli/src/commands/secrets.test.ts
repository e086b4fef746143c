import { expect, test } from "vitest";
import { usePeer } from "../testing/peer-scene.ts";

const scene = usePeer();
const run = (words: readonly string[], input?: string, group = "secrets") =>
  scene.run([group, ...words, "--organization"], input === undefined ? {} : { input });

test("secrets set reads the value from standard input without its last line break, and prints it nowhere", async () => {
  const { exitCode, stdout, stderr } = await run(["set", "TLS_KEY"], "two lines\nof a value\n");
  expect([exitCode, stdout]).toEqual([0, "Set TLS_KEY (revision 1).\n"]);
  expect(stderr).not.toContain("value");
  expect([...scene.peer.secrets]).toEqual([["TLS_KEY", "two lines\nof a value"]]);
});

test("secrets set takes no value on the command line, and no empty one", async () => {
  expect((await run(["set", "TLS_KEY", "a value on the command line"])).exitCode).toBe(2);
  expect((await run(["set", "TLS_KEY"], "\n")).exitCode).toBe(2);
  expect(scene.peer.requests).toEqual([]);
});

test("secrets set says itself that a value is too short or too long, and sends nothing", async () => {
  const [short, long] = [await run(["set", "PIN"], "1234567"), await run(["set", "PIN"], "x".repeat(8_193))];
  expect([short.exitCode, long.exitCode]).toEqual([2, 2]);
  expect(short.stderr).toContain("The value has 7 characters; a secret has 8 to 8192.");
  expect(long.stderr).toContain("Split it");
  expect(scene.peer.requests).toEqual([]);
  // Characters, as the platform counts them, not units of UTF-16.
  expect((await run(["set", "PIN"], "\u{1F511}".repeat(7))).exitCode).toBe(2);
});

test.each(["secrets", "variables"])("%s ls says that there are none, and how to set one", async (group) => {
  expect(await run(["ls"], undefined, group)).toMatchObject({
    exitCode: 0,
    stdout: `No ${group} yet. Set one with 'platform ${group} set'.\n`,
  });
});

test("secrets ls and rm know names only", async () => {
  await run(["set", "API_TOKEN"], "a value that is long");
  const { stdout } = await run(["ls"]);
  expect(stdout).toMatch(/NAME +REVISION +CHANGED +BY\nAPI_TOKEN +1 +2026-11-20 21:17:00 +Ada\n/u);
  expect(await run(["rm", "API_TOKEN"])).toMatchObject({ exitCode: 0, stdout: "Deleted.\n" });
  expect((await run(["rm", "API_TOKEN"])).exitCode).toBe(1);
});

const variables = (words: readonly string[], input?: string) => run(words, input, "variables");

test("variables set takes the value from the command line or standard input, and variables ls shows it", async () => {
  expect(await variables(["set", "MODE", "fast"])).toMatchObject({ stdout: "Set MODE (revision 1).\n" });
  await variables(["set", "LINES"], "one\ntwo\n");
  await variables(["set", "EMPTY"], "");
  const { stdout } = await variables(["ls"]);
  expect(stdout).toMatch(/^MODE +fast +1 +2026-11-20 21:17:00 +Ada$/mu);
  expect(stdout).toMatch(/^LINES +one\\ntwo +1 /mu);
  expect(stdout).toMatch(/^EMPTY +1 /mu);
  expect(await variables(["rm", "MODE"])).toMatchObject({ exitCode: 0, stdout: "Deleted.\n" });
  expect((await variables(["rm", "MODE"])).exitCode).toBe(1);
});
