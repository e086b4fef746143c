import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { NEW_TOKEN } from "../testing/access.ts";
import { PROGRAM, TERMINAL, createCliHome } from "../testing/cli-process.ts";
import type { CliHome } from "../testing/cli-process.ts";
import { startPlatformPeer } from "../testing/platform-peer.ts";
import type { PlatformPeer } from "../testing/platform-peer.ts";

const ADA = ["--name", "Ada", "--email", "ada@example.org"];
const PASSWORD = "a long password";
let home: CliHome;
let peer: PlatformPeer;

beforeEach(async () => {
  [home, peer] = await Promise.all([createCliHome(), startPlatformPeer({ signUp: "open" })]);
});
afterEach(() => Promise.all([home.close(), peer.close()]));

const signUp = (...words: readonly string[]) =>
  home.run(["sign-up", "--endpoint", peer.url, "--password-stdin", ...words], { input: `${PASSWORD}\n` });
const readStored = async (): Promise<unknown> =>
  JSON.parse(await readFile(join(home.configDirectory, "config.json"), "utf8"));

test("who signs up is logged in by a token, and the session of it is ended", async () => {
  const { exitCode, stdout } = await signUp(...ADA);
  expect([exitCode, stdout]).toEqual([0, `Signed up at ${peer.url} as ada@example.org, working in 'Ada'.\n`]);
  expect(await readStored()).toEqual({
    endpoint: peer.url,
    personalAccessToken: NEW_TOKEN,
    context: { id: "org-1", name: "Ada" },
  });
  expect(peer.requests.at(-1)).toBe("DELETE /api/session");
});

test("sign-up asks at a terminal for what was not given, twice for the password, which is hidden", async () => {
  const answers = [
    ["Your name", "Ada\r"],
    ["Email address", "ada@example.org\r"],
    ["New password", `${PASSWORD}\r`],
    ["The same password again", `${PASSWORD}\r`],
  ];
  const words = [JSON.stringify(answers), process.execPath, PROGRAM, "sign-up", "--endpoint", peer.url];
  const { exitCode, stdout } = await home.run(words, {
    node: "python3",
    program: TERMINAL,
    variables: { TERM: "xterm" },
  });
  expect(exitCode).toBe(0);
  expect(stdout).not.toContain(PASSWORD);
  expect(await readStored()).toMatchObject({ personalAccessToken: NEW_TOKEN });
});

test("who may not sign up is told whom to ask, and nothing is sent; a link of an invitation is taken whole", async () => {
  await peer.close();
  peer = await startPlatformPeer({ signUp: "invitation" });
  const { exitCode, stderr } = await signUp(...ADA);
  expect(exitCode).toBe(1);
  expect(stderr).toContain("Only who is invited can sign up");
  expect(peer.requests).toEqual(["GET /api/configuration"]);
  const invited = await signUp(...ADA, "--invitation", "http://api.test/invitations/secret");
  expect(invited.exitCode).toBe(0);
  await peer.close();
  peer = await startPlatformPeer();
  expect((await signUp(...ADA)).stderr).toContain("Nobody can sign up");
});

test.each([
  ["mistyped", "Copy the whole link"],
  ["of-another", "Take the address that it was sent to"],
])("who signs up with a link that is %s is sent to the link", async (token, advice) => {
  const { exitCode, stderr } = await signUp(...ADA, "--invitation", `http://api.test/invitations/${token}`);
  expect(exitCode).toBe(1);
  expect(stderr).toContain(advice);
  expect(stderr).not.toContain("whoami");
});

test("without a terminal, sign-up says which option is missing", async () => {
  const { exitCode, stderr } = await signUp("--name", "Ada");
  expect(exitCode).toBe(2);
  expect(stderr).toContain("--email is required");
});
