/** The cores alone, as packages: each is installed as its users install it, and calls a service of `platform serve`. */
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, delimiter, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { REPOSITORY } from "../../tools/platform-process.ts";
import { startLocalServer } from "../support/local-server.ts";
import type { LocalServer } from "../support/local-server.ts";
import { needJava, run, runMaven, runOk } from "./tools.ts";

const PROGRAM = "def run(data):\n    return {'total': sum(data['numbers'])}\n";
/** Each package is built twice. */
const OUTPUTS = ["packages", "again"] as const;
const BUILD = ["node", join(REPOSITORY, "tools/build-clients.ts"), "--output"] as const;

let folder: string;
let project: string;
/** From the first call on. */
let server: LocalServer | undefined;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "platform-packages-"));
  project = join(folder, "adder");
  await mkdir(join(project, "src"), { recursive: true });
  await writeFile(
    join(project, "platform.json"),
    JSON.stringify({
      name: "adder",
      runtime: "PYTHON_TEMPLATE",
      resources: { cpu: 0.25, memory: 0.25 },
    }),
  );
  await writeFile(join(project, "src/__init__.py"), "");
  await writeFile(join(project, "src/program.py"), PROGRAM);
});
afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Packages of a language, and the folder for a program that uses them. */
async function prepare(language: string) {
  const use = join(folder, `use-${language}`);
  await mkdir(use);
  return { packages: join(folder, "packages", language), use };
}

/** As users of the package: with nothing of the repository in reach. */
async function call(command: readonly string[], cwd: string): Promise<unknown> {
  server ??= await startLocalServer(project);
  const output = await runOk(command, { cwd, environment: { PLATFORM_SERVICE_ENDPOINT: server.url } });
  return JSON.parse(output);
}

/** The one package with this ending; equal sources have given equal bytes. */
async function find(packages: string, ending: string): Promise<string> {
  const [found = "none", ...others] = (await readdir(packages)).filter((name) => name.endsWith(ending));
  expect(others).toEqual([]);
  const [first, second] = await Promise.all(
    OUTPUTS.map((output) => readFile(join(folder, output, basename(packages), found))),
  );
  expect(first).toEqual(second);
  return join(packages, found);
}

test("the wheel of the Python core installs without an index, and calls a service", async () => {
  const { packages, use } = await prepare("python");
  for (const output of OUTPUTS) await runOk([...BUILD, join(folder, output), "python"]);
  await runOk(["python3", "-m", "venv", join(use, "venv")]);
  const python = join(use, "venv/bin/python");
  await runOk([python, "-m", "pip", "install", "--quiet", "--no-index", await find(packages, ".whl")]);
  await writeFile(
    join(use, "main.py"),
    `import asyncio, json
from platform_client import AsyncClient, Client

async def both(client):
    async with AsyncClient(client) as together:
        return await together.run({"numbers": [1, 2, 3]})

with Client() as client:
    print(json.dumps([client.run({"numbers": [1, 2]}).value, asyncio.run(both(client)).value]))
`,
  );
  expect(await call([python, "main.py"], use)).toEqual([{ total: 3 }, { total: 6 }]);
  const shown = await runOk([python, "-m", "pip", "show", "--files", "platform-client"], { cwd: use });
  expect(shown).toMatch(/licenses\/LICENSE/u);
  expect(shown).toMatch(/py\.typed/u);
});

test("the npm package of the JavaScript core installs offline, has types, and calls a service", async () => {
  const { packages, use } = await prepare("javascript");
  for (const output of OUTPUTS) await runOk([...BUILD, join(folder, output), "javascript"]);
  await writeFile(join(use, "package.json"), '{"type":"module"}');
  const file = await find(packages, ".tgz");
  await runOk(["npm", "install", "--offline", "--no-audit", "--no-fund", "--silent", file], { cwd: use });
  await writeFile(
    join(use, "main.mjs"),
    `import { Client } from "platform-client";
const { output } = await new Client().run({ numbers: [1, 2, 3] });
console.log(JSON.stringify(output));
`,
  );
  expect(await call(["node", "main.mjs"], use)).toEqual({ total: 6 });
  const installed = await readdir(join(use, "node_modules/platform-client"), { recursive: true });
  expect(installed.filter((name) => /test|LICENSE|README|index\.d\.ts/u.test(name)).toSorted()).toEqual([
    "LICENSE",
    "README.md",
    "core/index.d.ts",
  ]);
});

test("the jar of the Java core has a pom and a licence, and calls a service", async ({ skip }) => {
  await needJava(skip);
  const { packages, use } = await prepare("java");
  for (const output of OUTPUTS) {
    const missing = await runMaven([...BUILD, join(folder, output), "java"]);
    if (missing !== null) skip(missing);
  }
  const jar = await find(packages, ".jar");
  const entries = await runOk(["python3", "-m", "zipfile", "-l", jar]);
  expect(entries).toContain("META-INF/LICENSE");
  expect(await find(packages, ".pom")).toBe(jar.replace(/jar$/u, "pom"));
  await writeFile(
    join(use, "Main.java"),
    `import io.platform.client.*;
import java.util.*;
class Main {
    public static void main(String[] arguments) {
        var client = Client.of(Settings.fromEnvironment());
        System.out.println(Json.write(client.run(Map.of("numbers", List.of(1, 2, 3)), null).value()));
    }
}
`,
  );
  // The jar names its libraries, which lie beside it.
  const path = [use, jar].join(delimiter);
  await runOk(["javac", "-cp", path, "-d", use, "Main.java"], { cwd: use });
  expect(await call(["java", "-cp", path, "Main"], use)).toEqual({ total: 6 });
});

test("a language that there is not is refused, and nothing is written", async () => {
  const { code, output } = await run([...BUILD, join(folder, "none"), "cobol"]);
  expect([code, output]).toEqual([1, expect.stringContaining("there is java, python, javascript, quantum")]);
  expect(await readdir(folder)).not.toContain("none");
});
