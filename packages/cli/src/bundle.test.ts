import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildCli } from "../build.ts";
import { createCliHome, LAUNCHER, waitFor } from "./testing/cli-process.ts";
import type { CliHome } from "./testing/cli-process.ts";
import { ensureNode18 } from "./testing/node18.ts";
import { TOKEN, startPlatformPeer } from "./testing/platform-peer.ts";
import { serveProject } from "./testing/served-project.ts";

/*
 * The published package, on the oldest Node.js that the CLI promises to run on, far from the repository: nothing of its
 * node_modules can be found from there.
 */

const hashOf = (text: string) => (JSON.parse(text) as { hash: string }).hash;

let folder = "";
let program = "";
let node = "";
let home: CliHome;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "platform-bundle-"));
  [{ bundle: program }, node, home] = await Promise.all([
    buildCli(join(folder, "dist")),
    ensureNode18(),
    createCliHome(),
  ]);
});

afterAll(async () => {
  await home.close();
  await rm(folder, { recursive: true, force: true });
});

test("the package names its command and the Node.js it needs, and depends on nothing", async () => {
  const manifest: unknown = JSON.parse(await readFile(join(folder, "dist/package.json"), "utf8"));
  expect(manifest).toMatchObject({
    bin: { platform: "platform.js" },
    engines: { node: ">=18" },
    type: "module",
  });
  expect(manifest).not.toHaveProperty("dependencies");
  expect(await readFile(program, "utf8")).toMatch(/^#!\/usr\/bin\/env node\n/);
});

test("the bundle calls no method of arrays that Node.js 18 lacks", async () => {
  expect(await readFile(program, "utf8")).not.toMatch(/\.(?:toSorted|toReversed|toSpliced)\(/u);
});

test("the package names each library that it contains, with its licence", async () => {
  const licenses = await readFile(join(folder, "dist/THIRD_PARTY_LICENSES.txt"), "utf8");
  const sections = licenses.split(/^-{80}\n\n/m);
  // Of the page, too.
  for (const library of ["@clack/prompts", "commander", "fastify", "react-dom", "typebox", "yauzl"]) {
    const section = sections.find((text) => text.startsWith(`${library} `));
    expect(section).toMatch(/^\S+ \d+\.\d+\.\d+ \(MIT\)\n\n[^]*Permission is hereby granted/);
  }
  const manifest = JSON.parse(await readFile(join(folder, "dist/package.json"), "utf8")) as {
    files: string[];
  };
  expect(manifest.files).toContain("THIRD_PARTY_LICENSES.txt");
});

test("the packed package can be installed and run by its name", async () => {
  const run = promisify(execFile);
  const target = join(folder, "installed");
  await mkdir(target);
  const packed = await run("npm", ["pack", "--silent", "--pack-destination", target], {
    cwd: join(folder, "dist"),
  });
  const flags = ["--no-audit", "--no-fund", "--offline", "--prefix", target];
  await run("npm", ["install", ...flags, join(target, packed.stdout.trim())]);
  const { stdout } = await run(
    join(target, "node_modules/.bin/platform"),
    ["init", "--name", "x", "--json"],
    {
      cwd: target,
    },
  );
  const created: unknown = JSON.parse(stdout);
  expect(created).toMatchObject({ files: expect.arrayContaining([".platformignore", "src/program.py"]) });
});

test("init and compress work on Node.js 18, and the hash is that of newer ones", async () => {
  await home.run(["init", "--name", "packed", "--template", "numpy"], { node, program });
  const options = { folder: "packed" };
  const old = await home.run(["compress", "--json"], { ...options, node, program });
  const now = await home.run(["compress", "--json"], options);

  expect(old.stderr).toBe("");
  expect(hashOf(old.stdout)).toMatch(/^[0-9a-f]{64}$/);
  expect(hashOf(old.stdout)).toBe(hashOf(now.stdout));
});

test("login, up and run work on Node.js 18, without a word from Node on standard error", async () => {
  const peer = await startPlatformPeer();
  try {
    await home.run(["init", "--name", "deployed"], { node, program });
    const options = { folder: "deployed", node, program };
    const login = await home.run(["login", "-t", TOKEN, "--endpoint", peer.url], options);
    expect(login).toMatchObject({ exitCode: 0, stderr: "" });

    peer.scriptBuild([{ status: "SUCCEEDED", terminal: true, log: [], nextOffset: 0 }]);
    const up = await home.run(["up", "--json"], options);
    expect(up.exitCode).toBe(0);
    expect(JSON.parse(up.stdout)).toMatchObject({ name: "deployed", status: "SUCCEEDED", changed: true });

    const running = home.start(["run", "--json"], options);
    const result = new TextEncoder().encode('{"ok":true}');
    await waitFor(
      "a job",
      async () => (await peer.finishJobs({ status: "SUCCEEDED", result, metadata: null }))[0],
    );
    const ended = await running.ended;
    expect(ended.exitCode).toBe(0);
    expect(JSON.parse(ended.stdout)).toMatchObject({ status: "SUCCEEDED", result: { ok: true } });
  } finally {
    await peer.close();
  }
});

test("serve works on Node.js 18: execution, reload, documentation and the page that tries it", async () => {
  const served = await serveProject("def run():\n    return {'answer': 'old'}\n", { node, program });
  try {
    // A package is downloaded by a program that the bundle has beside it.
    await served.write("requirements.txt", "six\n");
    await waitFor("the environment", () => (served.running.stderr().includes("Reloaded") ? true : undefined));
    expect(await served.execute({})).toMatchObject({ answer: "old" });
    await served.write("src/program.py", "def run():\n    return {'answer': 'new'}\n");
    await waitFor("the reload", () =>
      served.running.stderr().split("Reloaded").length > 2 ? true : undefined,
    );
    expect(await served.execute({})).toMatchObject({ answer: "new" });
    for (const path of [
      "/docs",
      "/docs/swagger-ui-bundle.js",
      "/openapi.json",
      "/try",
      "/try/color-scheme.js",
    ]) {
      expect((await served.call(path)).status).toBe(200);
    }
    expect(served.running.stderr()).not.toMatch(/Warning|Deprecat/);
  } finally {
    await served.close();
  }
});

test("serve reads files of data pools on Node.js 18, keeps large results and files, and stores results in a pool", async () => {
  const pools = join(folder, "pools");
  const text = "def run(data):\n    open(os.environ['OUTPUT_DIRECTORY'] + '/a.txt', 'w').write('file')\n";
  await mkdir(join(pools, "Maps"), { recursive: true });
  await writeFile(join(pools, "Maps/data.json"), '{"from": "pool"}');
  const served = await serveProject(`import os\n${text}    return {**data, "large": "x" * 2_000_000}\n`, {
    node,
    program,
    flags: ["--pools", pools],
  });
  try {
    const { dataPools } = JSON.parse(served.running.stdout()) as {
      dataPools: readonly { dataPoolId: string; files: readonly { reference: object }[] }[];
    };
    const [pool] = dataPools;
    const persistTo = { dataPoolId: pool?.dataPoolId, name: "stored.json" };
    const result = await served.execute({ dataRef: pool?.files[0]?.reference, persistTo });
    expect([result["from"], String(result["large"]).length]).toEqual(["pool", 2_000_000]);
    const { "a.txt": link } = result["_links"] as Readonly<Record<string, { readonly href: string }>>;
    expect((await served.call(link?.href ?? "")).body).toEqual({ text: "file" });
    expect(JSON.parse(await readFile(join(pools, "Maps/stored.json"), "utf8"))).toMatchObject({
      from: "pool",
    });
  } finally {
    await served.close();
  }
});

test("serve tells the URL of a start its end on Node.js 18, signed", async () => {
  const received: { readonly headers: Record<string, string>; readonly body: string }[] = [];
  const receiver = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.once("end", () => {
      const body = Buffer.concat(chunks).toString();
      received.push({ headers: request.headers as Record<string, string>, body });
      response.writeHead(204).end();
    });
  }).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  const { port } = receiver.address() as AddressInfo;
  const served = await serveProject("def run():\n    return {}\n", { node, program });
  try {
    const { webhookSecret } = JSON.parse(served.running.stdout()) as { webhookSecret: string };
    await served.execute({ webhookUrl: `http://localhost:${port}/hook` });
    const message = await waitFor("the message", () => received[0]);
    expect(new Webhook(webhookSecret).verify(message.body, message.headers)).toMatchObject({
      type: "execution.succeeded",
    });
    expect(served.running.stderr()).not.toMatch(/Warning|Deprecat/);
  } finally {
    await served.close();
    receiver.closeAllConnections();
    receiver.close();
  }
});

test("the launcher runs the bundle on an old Node.js, or says how to make it", async () => {
  const place = join(folder, "launcher");
  await mkdir(join(place, "bin"), { recursive: true });
  await cp(LAUNCHER, join(place, "bin/platform.js"));
  await writeFile(join(place, "package.json"), '{"type":"module"}');
  const launcher = join(place, "bin/platform.js");

  const without = await home.run(["--version"], { node, program: launcher });
  expect(without.exitCode).toBe(1);
  expect(without.stderr).toContain("node packages/cli/build.ts");

  await cp(dirname(program), join(place, "dist"), { recursive: true });
  const withBundle = await home.run(["--version"], { node, program: launcher });
  expect(withBundle).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
});
