import { createHash } from "node:crypto";
import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createCliHome } from "../testing/cli-process.ts";
import type { CliHome } from "../testing/cli-process.ts";
import { OFFERED_KEY } from "../testing/market.ts";
import { TOKEN, startPlatformPeer } from "../testing/platform-peer.ts";
import type { PlatformPeer } from "../testing/platform-peer.ts";

const ABSENT_KEY = "0198c1de-7a53-4000-8000-00000000000f";

let home: CliHome;
let peer: PlatformPeer;

beforeEach(async () => {
  [home, peer] = await Promise.all([createCliHome(), startPlatformPeer()]);
});
afterEach(async () => {
  await Promise.all([home.close(), peer.close()]);
});

const call = (...words: readonly string[]) =>
  home.run(["clients", ...words], {
    variables: { PLATFORM_ENDPOINT: peer.url, PLATFORM_PERSONAL_ACCESS_TOKEN: TOKEN },
  });
const list = () => readdir(home.directory);
const read = (name: string) => readFile(join(home.directory, name), "utf8");

test("a client of the newest version is stored under the service's name, with its progress and what comes next", async () => {
  const { exitCode, stdout, stderr } = await call("tsp", "--language", "java");
  expect([exitCode, await list()]).toEqual([0, ["tsp-1.2.0-java.zip"]]);
  expect(await read("tsp-1.2.0-java.zip")).toBe(`${OFFERED_KEY} 1.2.0 java`);
  expect(stdout).toContain("client of tsp 1.2.0 for Java");
  expect(stdout).toContain("mvn -q -B package");
  expect(stderr).toContain("Making the client of tsp 1.2.0 for Java");
});

test("version and path are chosen, and --json says what was stored", async () => {
  const words = ["--version", "1.0.0", "-l", "python", "-o", "libs/client.zip", "--json"];
  const { stdout } = await call(OFFERED_KEY, ...words);
  const content = `${OFFERED_KEY} 1.0.0 python`;
  expect(JSON.parse(stdout)).toEqual({
    serviceKey: OFFERED_KEY,
    service: "tsp",
    version: "1.0.0",
    language: "python",
    path: join(home.directory, "libs/client.zip"),
    bytes: content.length,
    sha256: createHash("sha256").update(content).digest("hex"),
  });
  expect(await read("libs/client.zip")).toBe(content);
});

test("what is there is not replaced, and nothing is asked for it", async () => {
  await writeFile(join(home.directory, "tsp-1.2.0-javascript.zip"), "mine");
  await mkdir(join(home.directory, "libs"));
  for (const [words, message] of [
    [[], "tsp-1.2.0-javascript.zip is there already."],
    [["-o", "libs"], "is a folder, and -o names the file."],
    [["-o", "other/"], "is a folder, and -o names the file."],
  ] as const) {
    const { exitCode, stderr } = await call("tsp", "--language", "javascript", ...words);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(message)]);
  }
  expect(await read("tsp-1.2.0-javascript.zip")).toBe("mine");
  expect(await list()).toEqual(["libs", "tsp-1.2.0-javascript.zip"]);
  expect(peer.requests.filter((one) => one.includes("/clients/"))).toEqual([]);
});

test("a service of one's own needs no publication, but a version", async () => {
  await home.createProject("demo");
  peer.scriptBuild([{ status: "SUCCEEDED", terminal: true, log: [], nextOffset: 0 }]);
  const variables = { PLATFORM_ENDPOINT: peer.url, PLATFORM_PERSONAL_ACCESS_TOKEN: TOKEN };
  expect((await home.run(["up"], { folder: "demo", variables })).exitCode).toBe(0);
  const none = await call("demo", "--language", "python");
  expect([none.exitCode, none.stderr]).toEqual([1, expect.stringContaining("demo has no live version.")]);
  expect((await call("demo", "--language", "python", "--version", "1.0.0")).exitCode).toBe(0);
  expect(await list()).toContain("demo-1.0.0-python.zip");
});

test("what cannot be had is said, and nothing is left of it", async () => {
  const several = await call("knapsack", "--language", "java");
  expect([several.exitCode, several.stderr]).toEqual([
    1,
    expect.stringContaining("Quantum Lab (lab): 0198c1de-7a53-4000-8000-000000000000"),
  ]);
  for (const name of ["nothing", ABSENT_KEY]) {
    const { exitCode, stderr } = await call(name, "--language", "java");
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringContaining(`no service '${name}' that can be called`),
    ]);
  }
  const absent = await call("tsp", "--language", "java", "--version", "9.9.9", "--json");
  expect(JSON.parse(absent.stdout)).toMatchObject({ error: { code: "SERVICE_NOT_FOUND" } });
  const wrong = [["tsp"], ["tsp", "--language", "cobol"], ["tsp", "--language", "java", "--version", "1"]];
  for (const words of wrong) expect((await call(...words)).exitCode).toBe(2);
  expect(await list()).toEqual([]);
});
