import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";

interface Library {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly texts: readonly string[];
}

const LICENSE_FILE = /^(licen[cs]e|copying|notice)\b/i;
/** Matches an input path of the bundle and captures the folder of its package; for nested packages, the innermost. */
const PACKAGE_FOLDER = /^(.*\bnode_modules\/(?:@[^/]+\/)?[^/]+)\//;

/**
 * Describes the licences of the libraries that a bundle contains: name, version, licence and its text.
 *
 * @param inputs paths of all files in the bundle, relative to `root`
 * @throws Error if a library has no licence
 */
export async function describeLicenses(root: string, inputs: readonly string[]): Promise<string> {
  const folders = new Set(inputs.flatMap((path) => PACKAGE_FOLDER.exec(path)?.[1] ?? []));
  const libraries = await Promise.all([...folders].map((folder) => readLibrary(join(root, folder))));
  // The same version may be installed in several places.
  const entries = new Set(libraries.map(describe));
  return `This package contains these libraries, in platform.js and in the page of platform serve.\n\n${[...entries].sort().join(`\n${"-".repeat(80)}\n\n`)}`;
}

function describe({ name, version, license, texts }: Library): string {
  return [`${name} ${version} (${license})`, ...texts.map((text) => text.trim())].join("\n\n").concat("\n");
}

async function readLibrary(folder: string): Promise<Library> {
  const { name, version, license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as {
    readonly name: string;
    readonly version: string;
    readonly license?: string;
  };
  if (license === undefined)
    throw new Error(`${name} ${version} is bundled, but its package.json has no licence`);
  const files = (await readdir(folder)).filter((file) => LICENSE_FILE.test(file)).sort();
  return {
    name,
    version,
    license,
    texts: await Promise.all(files.map((file) => readFile(join(folder, file), "utf8"))),
  };
}
