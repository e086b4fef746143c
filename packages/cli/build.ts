import { execFile } from "node:child_process";
import { chmod, cp, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join, relative, sep } from "node:path";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { describeLicenses } from "./third-party-licenses.ts";

const here = dirname(fileURLToPath(import.meta.url));

/** Node 18 has no global `crypto`, and CommonJS libraries in an ES module have no `require`. */
const PREAMBLE = [
  'import { createRequire as createBundleRequire } from "node:module";',
  'import { webcrypto as bundleCrypto } from "node:crypto";',
  "const require = createBundleRequire(import.meta.url);",
  "globalThis.crypto ??= bundleCrypto;",
].join("\n");

const LICENSES_FILE = "THIRD_PARTY_LICENSES.txt";

const THREAD_FILE = "json-check.js";

/** Of both programs. */
const OPTIONS = {
  absWorkingDir: here,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node18",
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: "none",
  logLevel: "warning",
} as const;

/** The page of `serve`, as the console's package builds it. */
const CONSOLE = join(here, "../console");
const BUILT_PAGE = join(CONSOLE, "dist-try");
/** Of these the first says what the page was built of, and the second what is in it. */
const NOT_OF_PAGE = new Set(["sources.txt", "libraries.json"]);

const SWAGGER_FILES = [
  "swagger-ui.css",
  "swagger-ui-bundle.js",
  "swagger-ui-bundle.js.LICENSE.txt",
  "LICENSE",
  "NOTICE",
];

/**
 * Writes the publishable package: a program that runs on Node.js 18 and newer, and the files that it reads. The package has no
 * dependencies.
 *
 * @param target folder of the package; its previous content is removed
 */
export async function buildCli(target: string = join(here, "dist")): Promise<{ readonly bundle: string }> {
  await rm(target, { recursive: true, force: true });
  await mkdir(target, { recursive: true });
  const bundle = join(target, "platform.js");
  const { metafile } = await build({
    ...OPTIONS,
    metafile: true,
    entryPoints: [join(here, "src/main.ts")],
    outfile: bundle,
    banner: { js: `#!/usr/bin/env node\n${PREAMBLE}` },
    define: { PLATFORM_IS_BUNDLE: "true" },
  });
  // A thread has a program of its own.
  await build({
    ...OPTIONS,
    entryPoints: [join(here, "../engine/src/json-check/check-thread.ts")],
    outfile: join(target, THREAD_FILE),
  });
  await chmod(bundle, 0o755);
  const page = await buildPage(join(target, "try"));
  const licenses = await describeLicenses(here, [...Object.keys(metafile.inputs), ...page]);
  await writeFile(join(target, LICENSES_FILE), licenses);
  await copyAssets(target);
  await writeManifest(target);
  return { bundle };
}

/** Builds the page and copies it. Returns the files of libraries that it is made of, relative to this package. */
async function buildPage(target: string): Promise<readonly string[]> {
  const program = join(here, "../../tools/build-console.ts");
  await promisify(execFile)(execPath, [program, "--only", "try"]);
  await cp(BUILT_PAGE, target, {
    recursive: true,
    filter: (path) => !NOT_OF_PAGE.has(relative(BUILT_PAGE, path)),
  });
  const libraries = JSON.parse(
    await readFile(join(BUILT_PAGE, "libraries.json"), "utf8"),
  ) as readonly string[];
  return libraries.map((path) => relative(here, join(CONSOLE, path)));
}

async function copyAssets(target: string): Promise<void> {
  await copyTree(join(here, "templates"), join(target, "templates"));
  await copyTree(join(here, "../engine/runner"), join(target, "runner"));
  await copyTree(join(here, "../../backends"), join(target, "quantum/backends"));
  await copyTree(join(here, "../../sdk/python/platform_quantum"), join(target, "quantum/platform_quantum"));
  const swagger = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
  await mkdir(join(target, "swagger-ui"));
  for (const file of SWAGGER_FILES) await cp(join(swagger, file), join(target, "swagger-ui", file));
  for (const file of ["LICENSE", "README.md"]) {
    const source = file === "LICENSE" ? join(here, "../../LICENSE") : join(here, file);
    if (await exists(source)) await cp(source, join(target, file));
  }
}

/** Copies a folder without caches and tests of the Python runner. */
async function copyTree(source: string, target: string): Promise<void> {
  const isExcluded = (path: string) =>
    relative(source, path)
      .split(sep)
      .some((part) => part === "__pycache__" || part === "tests");
  await cp(source, target, {
    recursive: true,
    filter: (path) => !isExcluded(path) && !basename(path).endsWith(".pyc"),
  });
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch {
    return false;
  }
}

async function writeManifest(target: string): Promise<void> {
  const own: unknown = JSON.parse(await readFile(join(here, "package.json"), "utf8"));
  if (typeof own !== "object" || own === null || !("name" in own) || !("version" in own)) {
    throw new Error("packages/cli/package.json has no name or version");
  }
  const manifest = {
    name: own.name,
    version: own.version,
    description: "Turns a Python function into an asynchronous HTTP service",
    license: "Apache-2.0",
    type: "module",
    bin: { platform: "platform.js" },
    engines: { node: ">=18" },
    files: ["platform.js", THREAD_FILE, LICENSES_FILE, "templates", "runner", "swagger-ui", "try"],
  };
  await writeFile(join(target, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , target] = process.argv;
  const { bundle } = await buildCli(target);
  process.stdout.write(`${bundle}\n`);
}
