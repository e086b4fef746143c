import { join } from "node:path";
import { appendFile, readFile, writeFile } from "node:fs/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createCliHome, waitFor } from "../testing/cli-process.ts";
import type { CliHome } from "../testing/cli-process.ts";
import { TOKEN, startPlatformPeer } from "../testing/platform-peer.ts";
import type { BuildStep, PlatformPeer } from "../testing/platform-peer.ts";

let home: CliHome;
let peer: PlatformPeer;

beforeEach(async () => {
  [home, peer] = await Promise.all([createCliHome(), startPlatformPeer()]);
  await home.createProject("demo");
});

afterEach(async () => {
  await Promise.all([home.close(), peer.close()]);
});

const up = (...words: readonly string[]) =>
  home.run(["up", ...words], {
    folder: "demo",
    variables: { PLATFORM_ENDPOINT: peer.url, PLATFORM_PERSONAL_ACCESS_TOKEN: TOKEN },
  });

const PENDING: BuildStep = { status: "PENDING", terminal: false, log: [], nextOffset: 0 };
const RUNNING: BuildStep = {
  status: "RUNNING",
  terminal: false,
  log: ["Installing requirements.txt"],
  nextOffset: 1,
};
const SUCCEEDED: BuildStep = {
  status: "SUCCEEDED",
  terminal: true,
  log: ["The module was loaded"],
  nextOffset: 2,
};
const FAILED: BuildStep = {
  status: "FAILED",
  terminal: true,
  code: "BUILD_FAILED",
  detail: "No matching distribution found for nothing-here",
  log: ["ERROR: No matching distribution found for nothing-here"],
  nextOffset: 2,
};

test("the first up creates the service, uploads, follows the build and says what is live", async () => {
  peer.scriptBuild([PENDING, RUNNING, SUCCEEDED]);
  const { exitCode, stdout, stderr } = await up("--json");

  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    serviceKey: "0198c1de-7a53-4000-8000-000000000001",
    name: "demo",
    version: "1.0.0",
    status: "SUCCEEDED",
    changed: true,
  });
  expect(stderr).toContain("Installing requirements.txt");
  expect(peer.uploads[0]).toBeGreaterThan(100);
  expect(peer.requests).toContain("POST /api/services");
  expect(peer.requests.at(-1)).toContain("/versions/1.0.0/build?offset=1");
});

test("a build that waits for others is said to, once for each that begins, and one that waits for none is not", async () => {
  const waits = (buildsBefore: number): BuildStep => ({ ...PENDING, buildsBefore });
  peer.scriptBuild([PENDING, waits(2), waits(2), waits(1), RUNNING, SUCCEEDED]);
  const { stderr } = await up();
  expect(stderr.split("\n").filter((line) => /^(?:Waiting|Building)/u.test(line))).toEqual([
    "Building demo 1.0.0",
    "Waiting: 2 builds are before it",
    "Waiting: 1 build is before it",
    "Building demo 1.0.0",
  ]);
  peer.scriptBuild([PENDING, waits(0), SUCCEEDED]);
  expect((await up("--force")).stderr).not.toContain("Waiting");
});

test("people are shown the service key, the version and what to do next", async () => {
  peer.scriptBuild([SUCCEEDED]);
  const { stdout } = await up();
  expect(stdout).toContain("demo 1.0.0 is live");
  expect(stdout).toContain("0198c1de-7a53-4000-8000-000000000001");
  expect(stdout).toContain("platform run");
});

test.each([["up"], ["backends", "install", "annealing"]])(
  "Ctrl-C during %s ends the waiting, which is no failure of the build",
  async (...words) => {
    peer.scriptBuild([PENDING, RUNNING]);
    const running = home.start(words, {
      folder: "demo",
      variables: { PLATFORM_ENDPOINT: peer.url, PLATFORM_PERSONAL_ACCESS_TOKEN: TOKEN },
    });
    await waitFor("the build", () => /Installing/u.exec(running.stderr())?.[0]);
    running.interrupt();
    const { exitCode, stderr } = await running.ended;
    expect([exitCode, stderr]).toEqual([130, expect.stringContaining("The build of 1.0.0 continues")]);
  },
);

test("who deploys a backend is told how circuits are run on it", async () => {
  peer.scriptBuild([SUCCEEDED]);
  const path = join(home.directory, "demo", "platform.json");
  const project = JSON.parse(await readFile(path, "utf8")) as object;
  await writeFile(path, JSON.stringify({ ...project, backend: { id: "my.simulator" } }));
  const { stdout } = await up();
  expect(stdout).toContain("platform quantum run bell.qasm --backend my.simulator");
  expect(stdout).not.toContain("platform run ");
});

test("a failed build shows its log, code and detail, and is a failure", async () => {
  peer.scriptBuild([PENDING, RUNNING, FAILED]);
  const { exitCode, stdout, stderr } = await up();

  expect(exitCode).toBe(1);
  expect(stdout).not.toContain("live");
  expect(stderr).toContain("ERROR: No matching distribution found for nothing-here");
  expect(stderr).toContain("BUILD_FAILED: No matching distribution");
});

test("with --json a failed build is one value with code, detail and log", async () => {
  peer.scriptBuild([PENDING, FAILED]);
  const { exitCode, stdout } = await up("--json");
  expect(exitCode).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    status: "FAILED",
    code: "BUILD_FAILED",
    detail: FAILED.detail,
    log: FAILED.log,
  });
});

test("unchanged content makes no new version and says so", async () => {
  peer.scriptBuild([SUCCEEDED], false);
  const { exitCode, stdout } = await up("--json");
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ changed: false, version: "1.0.0" });
});

test.each([
  [["--minor"], "bump=minor"],
  [["--major", "--force"], "bump=major&force=true"],
  [["--version", "3.1.4"], "version=3.1.4"],
])("%j reaches the platform as %s", async (words, query) => {
  peer.scriptBuild([SUCCEEDED]);
  expect((await up(...words)).exitCode).toBe(0);
  const upload = peer.requests.find((request) => request.includes("/versions?")) ?? "";
  for (const part of query.split("&")) expect(upload).toContain(part);
});

test("an invalid version is wrong usage, and nothing is uploaded", async () => {
  const { exitCode, stdout } = await up("--version", "1.0", "--json");

  expect(exitCode).toBe(2);
  expect(JSON.parse(stdout)).toMatchObject({
    error: {
      code: "USAGE",
      detail: "--version must be three numbers separated by dots, such as 1.4.0.",
    },
  });
  expect(peer.requests).toEqual([]);
});

test("what the platform refuses is shown with the field's name, once", async () => {
  peer.scriptBuild([SUCCEEDED]);
  const { exitCode, stdout, stderr } = await up("--version", "01.0.0", "--json");
  expect(exitCode).toBe(1);
  expect(stderr).toContain("error: version is not as expected");
  expect(stderr.match(/version is not/gu)).toHaveLength(1);
  expect(JSON.parse(stdout)).toMatchObject({
    error: { code: "INVALID_INPUT", errors: [expect.stringMatching(/^version /u)] },
  });
});

test("an invalid platform.json uploads nothing", async () => {
  await appendFile(join(home.directory, "demo/platform.json"), "}");
  const { exitCode, stderr } = await up();
  expect(exitCode).toBe(1);
  expect(stderr).toContain("platform.json is not JSON");
  expect(peer.requests).toEqual([]);
});
