import { cp, mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSample } from "./sample.ts";
import type { Sample } from "./sample.ts";
import { install, installOrFail, runOk } from "./tools.ts";
import { IS_FULL_LENGTH } from "../support/full-length.ts";

const programs = (name: string) => fileURLToPath(new URL(`programs/${name}`, import.meta.url));

/** What every program prints: two executions, and the newest two of the list. */
const SEEN = {
  succeeded: ["SUCCEEDED", { product: [21, 42] }],
  failed: ["FAILED", "EXECUTION_ERROR"],
  listed: ["FAILED", "SUCCEEDED"],
};

const STRICT = {
  strict: true,
  noUncheckedIndexedAccess: true,
  target: "es2022",
  module: "nodenext",
  types: ["node"],
  outDir: "dist",
  rootDir: "src",
  skipLibCheck: true,
};

let sample: Sample;
let java: Awaited<ReturnType<typeof install>>;

beforeAll(async () => {
  [sample, java] = await Promise.all([createSample(), install("java")]);
});
afterAll(() => sample?.close());

async function use(command: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const { endpoint, token } = sample.consumer;
  const output = await runOk(command, { environment: { ENDPOINT: endpoint, TOKEN: token, ...environment } });
  return JSON.parse(output) as unknown;
}

/** The folder of the jars, or skips the test. */
function needJava(skip: (reason: string) => never): string {
  return "reason" in java ? skip(java.reason) : java.folder;
}

async function generate(folder: string, document: string, generator: string, ...flags: string[]) {
  const jars = "folder" in java ? java.folder : "";
  const jar = (await readdir(jars)).find((name) => name.startsWith("openapi-generator-cli-")) ?? "";
  await runOk([
    "java",
    "-jar",
    join(jars, jar),
    "generate",
    "--input-spec",
    document,
    "--generator-name",
    generator,
    "--output",
    folder,
    ...flags,
  ]);
}

describe("openapi-python-client", () => {
  let folder: string;
  let python: string;

  beforeAll(async () => {
    [folder, python] = await Promise.all([sample.createFolder("python"), installOrFail("python")]);
    // The archive of a project is a file, as is content of any type: this generator knows files by another type.
    const bytes = "application/octet-stream";
    const config = { post_hooks: [], content_type_overrides: { "application/zip": bytes, "*/*": bytes } };
    await writeFile(join(folder, "config.json"), JSON.stringify(config));
  });

  async function generateClient(document: string, name: string) {
    const command = [join(python, "bin/python"), "-m", "openapi_python_client", "generate"];
    const flags = ["--meta", "none", "--config", join(folder, "config.json"), "--fail-on-warning"];
    await runOk([...command, "--path", document, "--output-path", join(folder, name), ...flags]);
  }

  test("writes a client that starts a service and fetches results", async () => {
    await generateClient(sample.serviceDocument, "service_client");
    const seen = await use([join(python, "bin/python"), programs("use_client.py")], { PYTHONPATH: folder });
    expect(seen).toEqual(SEEN);
  });

  test("writes a client of the platform API that Python can read", async () => {
    await generateClient(sample.platformDocument, "platform_client");
    const command = [join(python, "bin/python"), "-m", "compileall", "-q"];
    expect(await runOk([...command, join(folder, "platform_client")])).toBe("");
  });
});

describe("in strict TypeScript", () => {
  let node: string;

  beforeAll(async () => {
    node = await installOrFail("node");
  });

  /** A package with a client below `src` that is there already. */
  async function compile(folder: string, type: "module" | "commonjs") {
    await writeFile(join(folder, "package.json"), JSON.stringify({ type }));
    await writeFile(
      join(folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions: STRICT, include: ["src"] }),
    );
    await symlink(join(node, "node_modules"), join(folder, "node_modules"));
    await runOk([join(node, "node_modules/.bin/tsc"), "-p", folder]);
  }

  async function writeTypes(document: string, file: string) {
    await runOk([join(node, "node_modules/.bin/openapi-typescript"), document, "--output", file], {
      cwd: node,
    });
  }

  test("openapi-typescript and openapi-fetch start a service and fetch results", async () => {
    const folder = await sample.createFolder("openapi-fetch");
    await mkdir(join(folder, "src"));
    await writeTypes(sample.serviceDocument, join(folder, "src/client.ts"));
    await writeTypes(sample.platformDocument, join(folder, "src/platform.ts"));
    await cp(programs("openapi-fetch.ts"), join(folder, "src/main.ts"));
    await compile(folder, "module");
    expect(await use([execPath, join(folder, "dist/main.js")])).toEqual(SEEN);
  });

  test("openapi-generator's typescript-fetch starts a service and fetches results", async ({ skip }) => {
    needJava(skip);
    const folder = await sample.createFolder("typescript-fetch");
    await generate(join(folder, "src/client"), sample.serviceDocument, "typescript-fetch");
    // The largest document, by the slowest generator.
    if (IS_FULL_LENGTH)
      await generate(join(folder, "src/platform"), sample.platformDocument, "typescript-fetch");
    await cp(programs("typescript-fetch.ts"), join(folder, "src/main.ts"));
    await compile(folder, "commonjs");
    expect(await use([execPath, join(folder, "dist/main.js")])).toEqual(SEEN);
  });
});

/** Generates and compiles a client, with a program or alone; its class path. */
async function compileJava(jars: string, document: string, program: string | null) {
  const folder = await sample.createFolder(program === null ? "java-platform" : "java");
  await generate(folder, document, "java", "--library", "native");
  const sources = join(folder, "src/main/java");
  const files = await readdir(sources, { recursive: true });
  const java = files.filter((name) => name.endsWith(".java")).map((name) => join(sources, name));
  const classes = join(folder, "classes");
  // Not the generator: it brings other versions of what the client needs.
  const libraries = (await readdir(jars)).filter((name) => !name.startsWith("openapi-generator"));
  const classPath = [classes, ...libraries.map((name) => join(jars, name))].join(delimiter);
  await runOk([
    "javac",
    "-nowarn",
    "-d",
    classes,
    "-cp",
    classPath,
    ...java,
    ...(program === null ? [] : [program]),
  ]);
  return classPath;
}

describe("openapi-generator's Java client", () => {
  test("starts a service and fetches results", async ({ skip }) => {
    const classPath = await compileJava(needJava(skip), sample.serviceDocument, programs("UseClient.java"));
    expect(await use(["java", "-cp", classPath, "UseClient"])).toEqual(SEEN);
  });

  test("of the platform API compiles", async ({ skip }) => {
    skip(!IS_FULL_LENGTH, "It is left to npm run test:clients.");
    expect(await compileJava(needJava(skip), sample.platformDocument, null)).toContain("java-platform");
  });
});
