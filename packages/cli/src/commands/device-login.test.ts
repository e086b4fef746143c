import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { PROGRAM, TERMINAL, createCliHome, waitFor } from "../testing/cli-process.ts";
import type { CliHome } from "../testing/cli-process.ts";
import { DEVICE_PAGE } from "../testing/device.ts";
import { TOKEN, startPlatformPeer } from "../testing/platform-peer.ts";
import type { PlatformPeer } from "../testing/platform-peer.ts";

let home: CliHome;
let peer: PlatformPeer;

beforeEach(async () => {
  home = await createCliHome();
});
afterEach(() => Promise.all([home.close(), peer.close()]));

const logIn = (
  answers: readonly (readonly [string, string])[] = [],
  variables: Readonly<Record<string, string>> = {},
  words: readonly string[] = [],
) =>
  home.run([JSON.stringify(answers), process.execPath, PROGRAM, "login", "--endpoint", peer.url, ...words], {
    node: "python3",
    program: TERMINAL,
    variables: { TERM: "xterm", ...variables },
  });

const readStored = async (): Promise<unknown> =>
  JSON.parse(await readFile(join(home.configDirectory, "config.json"), "utf8"));

test("login shows a code, waits until it is confirmed, and stores the token", async () => {
  peer = await startPlatformPeer({ device: ["AUTHORIZATION_PENDING", "AUTHORIZATION_PENDING"] });
  const { exitCode, stdout } = await logIn();
  expect(exitCode).toBe(0);
  expect(stdout).toContain(DEVICE_PAGE);
  expect(stdout).toContain("BCDF-GHJK");
  expect(stdout).toContain("as ada@example.org");
  expect(stdout).not.toContain(TOKEN);
  expect(await readStored()).toMatchObject({ personalAccessToken: TOKEN });
  expect(peer.requests.filter((line) => line === "POST /api/device/token")).toHaveLength(3);
});

test("login opens the page in the browser where there is a display", async () => {
  peer = await startPlatformPeer({ device: [] });
  const opened = join(home.directory, "opened");
  await writeFile(join(home.directory, "xdg-open"), `#!/bin/sh\necho "$1" > '${opened}'\n`, { mode: 0o755 });
  const path = `${home.directory}:${process.env["PATH"] ?? ""}`;
  expect((await logIn([], { PATH: path, DISPLAY: ":0" })).exitCode).toBe(0);
  const url = await waitFor(
    "the page",
    async () => (await readFile(opened, "utf8").catch(() => "")) || undefined,
  );
  expect(url).toBe(`${DEVICE_PAGE}?user_code=BCDF-GHJK\n`);
});

test.each([
  ["refused", "ACCESS_DENIED", "The login was refused on the page."],
  ["not confirmed in time", "EXPIRED_TOKEN", "The login was not confirmed in time."],
] as const)("a login that is %s stores nothing", async (_how, code, text) => {
  peer = await startPlatformPeer({ device: [code] });
  const { exitCode, stdout } = await logIn();
  expect(exitCode).toBe(1);
  expect(stdout).toContain(text);
  await expect(readStored()).rejects.toThrow("ENOENT");
});

test("login asks for a token, hidden, where the platform has no such page, and with --paste", async () => {
  const answers = [["Personal access token", `${TOKEN}\r`]] as const;
  peer = await startPlatformPeer();
  const old = await logIn(answers);
  expect(old.exitCode).toBe(0);
  expect(old.stdout).not.toContain(TOKEN);
  await peer.close();
  peer = await startPlatformPeer({ device: ["ACCESS_DENIED"] });
  const pasted = await logIn(answers, {}, ["--paste"]);
  expect(pasted.exitCode).toBe(0);
  expect(peer.requests).not.toContain("POST /api/device/code");
});
