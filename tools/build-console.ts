/**
 * Builds the console and the page of `platform serve`: Vite writes it, then every file gets a line in `manifest.json`, from which it is
 * served, and those of the console their compressed forms. Nothing is done where it was built of the same sources; `--force` builds
 * anyway, `--only try` the page alone. Builds at the same time do not disturb each other: each writes into a folder of its own, which
 * takes the place of the former at the end.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readFile, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { argv, env, exit, pid, stderr, stdout } from "node:process";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { describeSizes, findExcess, readBudget } from "./console-budget.ts";
import type { Budget, BuiltFile, EntryBudget } from "./console-budget.ts";
import { REPOSITORY } from "./platform-process.ts";

const CONSOLE = join(REPOSITORY, "packages/console");
/** Where a build says of what it was built. */
const SOURCES_FILE = "sources.txt";
/** What Vite says of its files, and of what the page is made; not served. */
const MODULES_FILE = "modules.json";
const UNSERVED = new Set([MODULES_FILE, "libraries.json"]);
/** What both are built of. */
const SOURCES = [
  "package-lock.json",
  "packages/console/app",
  "packages/console/budget.json",
  "packages/console/package.json",
  "packages/console/public",
  "packages/console/vite.config.ts",
  "packages/contract/src",
  "tools/build-console.ts",
  "tools/console-budget.ts",
];

/** One of the two. */
interface Target {
  readonly name: string;
  /** As `vite.config.ts` tells them apart. */
  readonly mode: "production" | "try";
  readonly words: string;
  readonly dist: string;
  readonly page: string;
  /** Below which it is served, with a final slash. */
  readonly base: string;
  /** Whether it has compressed forms. The page of a local server goes over no line, and is compressed by the package that it ships in. */
  readonly isCompressed: boolean;
  readonly isSource: (path: string) => boolean;
  readonly budgetOf: (budget: Budget) => EntryBudget;
}

const TARGETS: readonly Target[] = [
  {
    name: "console",
    mode: "production",
    words: "the console",
    dist: join(CONSOLE, "dist"),
    page: "index.html",
    base: "/",
    isCompressed: true,
    isSource: (path) => !path.startsWith("packages/console/app/local/"),
    budgetOf: (budget) => budget,
  },
  {
    name: "try",
    mode: "try",
    words: "the page of platform serve",
    dist: join(CONSOLE, "dist-try"),
    page: "try.html",
    base: "/try/",
    isCompressed: false,
    isSource: () => true,
    budgetOf: (budget) => budget.try,
  },
];

/** As `read-build.ts` of the engine wants it, which refuses a build with another one. */
const SERVED_NAME = /^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/u;
const TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
};

async function hashSources({ page, isSource }: Target): Promise<string> {
  const hash = createHash("sha256");
  for (const path of [...SOURCES, `packages/console/${page}`]) {
    for (const file of await listFiles(path)) {
      if (/\.test\.tsx?$/u.test(file) || !isSource(file)) continue;
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

async function build(target: Target, sources: string): Promise<void> {
  const { name, mode, words, page, budgetOf } = target;
  const folder = join(CONSOLE, `.build/${name}-${pid}`);
  await rm(folder, { recursive: true, force: true });
  const { status } = spawnSync("vite", ["build", "--logLevel", "warn", "--mode", mode, "--outDir", folder], {
    cwd: CONSOLE,
    stdio: ["ignore", "inherit", "inherit"],
    // A test run has NODE_ENV=test, and React would be that for developers.
    env: { ...env, NODE_ENV: "production" },
  });
  if (status !== 0) throw new Error(`vite could not build ${words}`);
  const files = await Promise.all(
    (await listNames(folder)).map((file) => describeFile(target, folder, file)),
  );
  if (argv.includes("--sizes")) for (const line of describeSizes(files)) stdout.write(`${line}\n`);
  const excess = findExcess(budgetOf(await readBudget(CONSOLE)), join(folder, MODULES_FILE), files);
  if (excess.length > 0) throw new Error(`${words} exceeds its budget:\n${excess.join("\n")}`);
  await rm(join(folder, MODULES_FILE));
  await writeFile(
    join(folder, "manifest.json"),
    `${JSON.stringify({ index: page, files: toListed(target, files) }, null, 1)}\n`,
  );
  await writeFile(join(folder, SOURCES_FILE), sources);
  await takePlace(folder, target.dist);
}

/** The files as the manifest has them: with the lengths of the forms that there are, and without the page. */
function toListed({ page, isCompressed }: Target, files: readonly BuiltFile[]): readonly object[] {
  return files
    .filter(({ file }) => file !== page)
    .map((file) => (isCompressed ? file : { ...file, lengths: { identity: file.lengths.identity } }));
}

/** What is served. */
async function listNames(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !UNSERVED.has(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted();
}

/** A file as the manifest lists it. @throws Error for a suffix that has no media type here, and for colours that were rewritten */
async function describeFile(
  { base, isCompressed }: Target,
  folder: string,
  file: string,
): Promise<BuiltFile> {
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
  if (isCompressed) {
    await writeFile(join(folder, `${file}.br`), br);
    await writeFile(join(folder, `${file}.gz`), gzip);
  }
  return {
    path: `${base}${file}`,
    file,
    type,
    etag: `"${createHash("sha256").update(content).digest("base64url").slice(0, 22)}"`,
    immutable: file.startsWith("assets/"),
    lengths: { identity: content.length, gzip: gzip.length, br: br.length },
  };
}

/** Another build may have been faster; if it was of other sources, the last one is right. */
async function takePlace(folder: string, dist: string): Promise<void> {
  const former = `${folder}-former`;
  for (;;) {
    await rename(dist, former).catch(() => undefined);
    try {
      await rename(folder, dist);
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

async function buildIfChanged(target: Target): Promise<void> {
  const sources = await hashSources(target);
  const built = await readFile(join(target.dist, SOURCES_FILE), "utf8").catch(() => null);
  if (built === sources && !argv.includes("--force")) return;
  stderr.write(`Building ${target.words} ...\n`);
  await build(target, sources);
}

const only = argv.includes("--only") ? argv[argv.indexOf("--only") + 1] : undefined;
await mkdir(join(CONSOLE, ".build"), { recursive: true });
try {
  for (const target of TARGETS) if (only === undefined || target.name === only) await buildIfChanged(target);
} catch (error) {
  stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  exit(1);
}
