import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { REPOSITORY } from "./platform-process.ts";

/*
 * The version of the product has one source, `version` in the package.json of the repository. It is repeated in the manifest of
 * each package, in what they ask of each other and in the lockfile as well, because npm wants it there; and in the cores of the clients
 * and in the quantum SDK, which are packages of other languages and name it in each request.
 */

const PACKAGES = ["contract", "engine", "platform", "cli", "console"];
const OWN_SCOPE = "@platform/";

/** Texts that name the version, and what stands before and behind it. */
const TEXTS: Readonly<Record<string, RegExp>> = {
  "clients/java/pom.xml": /(<artifactId>platform-client<\/artifactId>\s*<version>)[^<]*(<)/u,
  "clients/java/src/main/java/io/platform/client/Transport.java": /(String VERSION = ")[^"]*(")/u,
  "clients/javascript/package.json": /("version": ")[^"]*(")/u,
  "clients/javascript/core/transport.js": /(const VERSION = ")[^"]*(")/u,
  "clients/python/pyproject.toml": /(\nversion = ")[^"]*(")/u,
  "clients/python/platform_client/transport.py": /(\nVERSION = ")[^"]*(")/u,
  "sdk/python/pyproject.toml": /(\nversion = ")[^"]*(")/u,
  "sdk/python/platform_quantum/__init__.py": /(\n__version__ = ")[^"]*(")/u,
};

interface Manifest {
  version?: string;
  dependencies?: Record<string, string>;
}

interface Lockfile extends Manifest {
  packages: Record<string, Manifest>;
}

/** The files that repeat what the repository's package.json says, and how to make each. */
export const MANIFESTS: Readonly<Record<string, () => Promise<string>>> = {
  ".nvmrc": async () => `${(await readRoot()).devDependencies.node}\n`,
  "package-lock.json": createLockfile,
  ...Object.fromEntries(
    Object.entries(TEXTS).map(([path, pattern]) => [path, () => createText(path, pattern)]),
  ),
  ...Object.fromEntries(
    PACKAGES.map((name) => [`packages/${name}/package.json`, () => createManifest(name)]),
  ),
};

async function createText(path: string, pattern: RegExp): Promise<string> {
  const { version } = await readRoot();
  const text = await readFile(join(REPOSITORY, path), "utf8");
  if (!pattern.test(text)) throw new Error(`${path} names no version`);
  return text.replace(pattern, `$1${version}$2`);
}

async function createManifest(name: string): Promise<string> {
  const { version } = await readRoot();
  const manifest = await readJson<Manifest>(`packages/${name}/package.json`);
  setVersion(manifest, version);
  return toJson(manifest);
}

async function createLockfile(): Promise<string> {
  const { version } = await readRoot();
  const lockfile = await readJson<Lockfile>("package-lock.json");
  lockfile.version = version;
  for (const path of ["", ...PACKAGES.map((name) => `packages/${name}`)]) {
    const manifest = lockfile.packages[path];
    if (manifest !== undefined) setVersion(manifest, version);
  }
  return toJson(lockfile);
}

function setVersion(manifest: Manifest, version: string): void {
  manifest.version = version;
  const { dependencies = {} } = manifest;
  for (const name of Object.keys(dependencies)) if (name.startsWith(OWN_SCOPE)) dependencies[name] = version;
}

function readRoot(): Promise<{ version: string; devDependencies: { node: string } }> {
  return readJson("package.json");
}

async function readJson<T>(path: string): Promise<T> {
  return JSON.parse(await readFile(join(REPOSITORY, path), "utf8")) as T;
}

function toJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
