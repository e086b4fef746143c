/**
 * `sh tools/run.sh node tools/build-clients.ts [--output FOLDER] [java|python|javascript|quantum ...]` builds the cores of the clients as
 * packages that work with any service: a wheel, an npm package, and a jar with its pom and the libraries that it needs; and the wheel of the
 * quantum SDK. Nothing is published.
 */
import { spawnSync } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { argv, stdout } from "node:process";
import { parseArgs } from "node:util";
import { REPOSITORY } from "./platform-process.ts";

interface Places {
  /** A copy of the core, with README.md and LICENSE. */
  readonly source: string;
  /** Where packages of the language go. */
  readonly output: string;
}

/** Writes the packages of a language from a copy of its core. */
type Build = (places: Places) => Promise<void>;

const BUILD_WHEEL = "import build_backend, sys; build_backend.build_wheel(sys.argv[1])";

// Imports nothing but the standard library: no builder of wheels is needed.
const buildWheel: Build = async ({ source, output }) =>
  run("python3", ["-B", "-c", BUILD_WHEEL, output], source);

const BUILDS: Readonly<Record<"java" | "python" | "javascript" | "quantum", Build>> = {
  java: async ({ source, output }) => {
    await cp(join(source, "LICENSE"), join(source, "src/main/resources/META-INF/LICENSE"));
    run("mvn", ["--quiet", "--batch-mode", "package"], source);
    const target = join(source, "target");
    const jar = (await readdir(target)).find((name) => name.endsWith(".jar"));
    if (jar === undefined) throw new Error("Maven has made no jar");
    await cp(join(target, jar), join(output, jar));
    await cp(join(source, "pom.xml"), join(output, `${basename(jar, ".jar")}.pom`));
    await cp(join(target, "lib"), join(output, "lib"), { recursive: true });
  },
  python: buildWheel,
  javascript: async ({ source, output }) =>
    run("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", output], source),
  quantum: buildWheel,
};

/** What is no client of a service has a place of its own. */
const SOURCES: Readonly<Record<string, string>> = { quantum: "sdk/python" };

const LEFT_OUT = new Set(["tests", "client_tests", "target", "node_modules", "__pycache__", ".pytest_cache"]);

const { values, positionals } = parseArgs({
  args: argv.slice(2),
  options: { output: { type: "string", default: "clients/dist" } },
  allowPositionals: true,
});
const wanted = Object.entries(BUILDS).filter(
  ([name]) => positionals.length === 0 || positionals.includes(name),
);
if (wanted.length < positionals.length) throw new Error(`there is ${Object.keys(BUILDS).join(", ")}`);
for (const [language, build] of wanted) await buildOne(language, build, resolve(values.output, language));

/** The folder is written as a whole: what a former version left there goes. */
async function buildOne(language: string, build: Build, output: string): Promise<void> {
  const source = await mkdtemp(join(tmpdir(), "platform-clients-"));
  try {
    const core = join(REPOSITORY, SOURCES[language] ?? join("clients", language));
    await cp(core, source, { recursive: true, filter: (path) => !LEFT_OUT.has(basename(path)) });
    await cp(join(REPOSITORY, "LICENSE"), join(source, "LICENSE"));
    await rm(output, { recursive: true, force: true });
    await mkdir(output, { recursive: true });
    await build({ source, output });
  } finally {
    await rm(source, { recursive: true, force: true });
  }
  for (const name of (await readdir(output)).sort()) stdout.write(`${join(output, name)}\n`);
}

function run(file: string, args: readonly string[], cwd: string): void {
  const { status, error } = spawnSync(file, args, { cwd, stdio: ["ignore", "ignore", "inherit"] });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${file} ended with ${status}`);
}
