import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ClientLanguage } from "@platform/contract/platform-api/marketplace";

/** What every client of a language has. */
export interface ClientCore {
  /** Texts of the core's files by their name. */
  readonly files: Readonly<Record<string, string>>;
  /** Texts of files at the root. */
  readonly common: Readonly<Record<string, string>>;
}

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

/** Where a core lies, which of its files belong to it, and what else does. */
const CORES: Readonly<
  Record<
    ClientLanguage,
    { readonly folder: string; readonly ends: RegExp; readonly beside: readonly string[] }
  >
> = {
  java: {
    folder: "clients/java/src/main/java/io/platform/client",
    ends: /\.java$/u,
    beside: ["clients/java/pom.xml"],
  },
  javascript: { folder: "clients/javascript/core", ends: /(?<!\.test)\.js$|\.d\.ts$/u, beside: [] },
  python: {
    folder: "clients/python/platform_client",
    ends: /\.(py|typed)$/u,
    beside: ["clients/python/build_backend.py"],
  },
};

/** Reads the core of a language from this installation. */
export async function readClientCore(language: ClientLanguage): Promise<ClientCore> {
  const { folder, ends, beside } = CORES[language];
  const names = (await readdir(join(ROOT, folder))).filter((name) => ends.test(name)).sort();
  const paths = [...names.map((name) => `${folder}/${name}`), ...beside];
  const files = await Promise.all(
    paths.map(async (path) => [path.split("/").at(-1) ?? path, await readFile(join(ROOT, path), "utf8")]),
  );
  const license = await readFile(join(ROOT, "LICENSE"), "utf8");
  return { files: Object.fromEntries(files), common: { LICENSE: license } };
}
