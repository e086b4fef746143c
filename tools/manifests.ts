import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { REPOSITORY } from "./platform-process.ts";

/*
 * The version of the product has one source, `version` in the package.json of the repository. It is repeated in the manifest of
 * each package, in what they ask of each other and in the lockfile as well, because npm wants it there.
 */

const PACKAGES = ["contract", "engine", "platform", "cli", "console"];
const OWN_SCOPE = "@platform/";

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
    PACKAGES.map((name) => [`packages/${name}/package.json`, () => createManifest(name)]),
  ),
};

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
