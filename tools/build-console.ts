/**
 * Builds the console: Vite writes it, then every file gets its compressed forms and a line in `manifest.json`, from which the platform
 * serves it. Nothing is done where `dist` was built of the same sources; `--force` builds anyway. Builds at the same time do not disturb
 * each other: each writes into a folder of its own, which takes the place of `dist` at the end.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readFile, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { argv, env, exit, pid, stderr, stdout } from "node:process";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { describeSizes, findExcess, readBudget } from "./console-budget.ts";
import type { BuiltFile } from "./console-budget.ts";
import { REPOSITORY } from "./platform-process.ts";

const CONSOLE = join(REPOSITORY, "packages/console");
const DIST = join(CONSOLE, "dist");
/** Where `dist` says of what it was built. */
const SOURCES_FILE = "sources.txt";
/** What Vite says of its files; not served. */
const MODULES_FILE = "modules.json";
/** What the console is built of. */
const SOURCES = [
  "package-lock.json",
  "packages/console/app",
  "packages/console/budget.json",
  "packages/console/index.html",
  "packages/console/package.json",
  "packages/console/public",
  "packages/console/vite.config.ts",
  "packages/contract/src",
  "tools/build-console.ts",
  "tools/console-budget.ts",
];

/** As `read-console.ts` of the platform wants it, which refuses a console with another one. */
const SERVED_NAME = /^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/u;
const TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
};

async function hashSources(): Promise<string> {
  const hash = createHash("sha256");
  for (const path of SOURCES) {
    for (const file of await listFiles(path)) {
      if (/\.test\.tsx?$/u.test(file)) continue;
      hash.update(`${file}\0`).update(await readFile(join(REPOSITORY, file)));
    }
  }
  return hash.digest("hex");
}

/** Files of a folder, or the file itself, by name. */
async function listFiles(path: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(join(REPOSITORY, path), { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(REPOSITORY.length))
      .toSorted();
  } catch {
    return [path];
  }
}

async function build(sources: string): Promise<void> {
  const folder = join(CONSOLE, `.build/${pid}`);
  await rm(folder, { recursive: true, force: true });
  const { status } = spawnSync("vite", ["build", "--logLevel", "warn", "--outDir", folder], {
    cwd: CONSOLE,
    stdio: ["ignore", "inherit", "inherit"],
    // A test run has NODE_ENV=test, and React would be that for developers.
    env: { ...env, NODE_ENV: "production" },
  });
  if (status !== 0) throw new Error("vite could not build the console");
  const files = await Promise.all((await listNames(folder)).map((name) => compress(folder, name)));
  if (argv.includes("--sizes")) for (const line of describeSizes(files)) stdout.write(`${line}\n`);
  const excess = findExcess(await readBudget(CONSOLE), join(folder, MODULES_FILE), files);
  if (excess.length > 0) throw new Error(`the console exceeds its budget:\n${excess.join("\n")}`);
  await rm(join(folder, MODULES_FILE));
  await writeFile(
    join(folder, "manifest.json"),
    `${JSON.stringify({ index: "index.html", files: files.filter(({ file }) => file !== "index.html") }, null, 1)}\n`,
  );
  await writeFile(join(folder, SOURCES_FILE), sources);
  await takePlace(folder);
}

/** All but what Vite says of its files. */
async function listNames(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name !== MODULES_FILE)
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted();
}

/** A file as the manifest lists it. @throws Error for a suffix that has no media type here, and for colours that were rewritten */
async function compress(folder: string, file: string): Promise<BuiltFile> {
  if (!SERVED_NAME.test(file)) throw new Error(`${file} has a name that the platform does not serve`);
  const content = await readFile(join(folder, file));
  const type = TYPES[file.split(".").at(-1) ?? ""];
  if (type === undefined) throw new Error(`${file} has no media type in tools/build-console.ts`);
  if (type.startsWith("text/css") && content.includes("--lightningcss-"))
    throw new Error(`${file} has colours for browsers without light-dark(): see cssTarget`);
  // Which file is read first is decided by the build; the first one decides which layer is above the other.
  if (type.startsWith("text/css") && content.toString().startsWith("@layer console"))
    throw new Error(
      `${file} has our own layer below the kit's: it has to begin with @layer mantine, console;`,
    );
  const br = brotliCompressSync(content, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
    },
  });
  const gzip = gzipSync(content, { level: 9 });
  await writeFile(join(folder, `${file}.br`), br);
  await writeFile(join(folder, `${file}.gz`), gzip);
  return {
    path: `/${file}`,
    file,
    type,
    etag: `"${createHash("sha256").update(content).digest("base64url").slice(0, 22)}"`,
    immutable: file.startsWith("assets/"),
    lengths: { identity: content.length, gzip: gzip.length, br: br.length },
  };
}

/** Another build may have been faster; if it was of other sources, the last one is right. */
async function takePlace(folder: string): Promise<void> {
  const former = `${folder}-former`;
  for (;;) {
    await rename(DIST, former).catch(() => undefined);
    try {
      await rename(folder, DIST);
      break;
    } catch (error) {
      if (
        !(error instanceof Error && "code" in error && ["ENOTEMPTY", "EEXIST"].includes(String(error.code)))
      )
        throw error;
      await rm(former, { recursive: true, force: true });
    }
  }
  await rm(former, { recursive: true, force: true });
}

const sources = await hashSources();
const built = await readFile(join(DIST, SOURCES_FILE), "utf8").catch(() => null);
if (built !== sources || argv.includes("--force")) {
  stderr.write("Building the console ...\n");
  await mkdir(join(CONSOLE, ".build"), { recursive: true });
  try {
    await build(sources);
  } catch (error) {
    stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    exit(1);
  }
}
