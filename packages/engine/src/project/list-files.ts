import { lstat, readdir, readFile } from "node:fs/promises";
import type { Dirent } from "node:fs";
import { join } from "node:path";
import { IGNORE_FILE } from "@platform/contract/project";
import ignore from "ignore";
import type { Ignore } from "ignore";
import { getCode, getMessage } from "../base/thrown.ts";
import { comparePaths } from "./content-hash.ts";
import { createNameRegister, findNameFault } from "./entry-names.ts";
import { ProjectError } from "./project-error.ts";

/** Secrets, caches and tools' folders: never part of a version, and no pattern of the user can include them. */
const NEVER_PACKED = [
  [".git", ".hg", ".svn"],
  // Without regard to case, which some systems ignore: there `.ENV` is the same file.
  [".[eE][nN][vV]", ".[eE][nN][vV].*", ".envrc"],
  [".venv/", "venv/"],
  [
    "__pycache__/",
    "*.pyc",
    "*.pyo",
    ".pytest_cache/",
    ".mypy_cache/",
    ".ruff_cache/",
    ".tox/",
    ".nox/",
    ".ipynb_checkpoints/",
  ],
  ["node_modules/", ".DS_Store", "Thumbs.db"],
].flat();

/** Marks the root of a virtual environment, whatever its name (PEP 405). */
const ENVIRONMENT_MARK = "pyvenv.cfg";

/**
 * The relative paths (with `/`) of the files that belong to a version, ordered by their bytes.
 * Leaves out what `.platformignore` in the root names (gitignore syntax), what is never packed, and `exclude` (relative to the root).
 *
 * @throws ProjectError INVALID_PROJECT for symbolic links, special files, names that other systems do not support, unreadable folders
 */
export async function listProjectFiles(
  directory: string,
  exclude: readonly string[] = [],
): Promise<readonly string[]> {
  const rules: Rules = {
    // `ignore` folds case by default, as git does on some systems: the result must not depend on the machine.
    never: ignore({ ignorecase: false, allowRelativePaths: true }).add(NEVER_PACKED),
    user: ignore({ ignorecase: false, allowRelativePaths: true }).add(await readIgnoreFile(directory)),
    exclude: new Set(exclude),
  };
  const found: string[] = [];
  await walk(directory, "", rules, found);
  found.sort(comparePaths);
  checkNames(found);
  return found;
}

interface Rules {
  readonly never: Ignore;
  readonly user: Ignore;
  readonly exclude: ReadonlySet<string>;
}

async function walk(root: string, folder: string, rules: Rules, found: string[]): Promise<void> {
  for (const entry of await readFolder(root, folder)) {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    const isFolder = entry.isDirectory();
    if (await isLeftOut(root, path, entry, rules)) continue;
    if (isFolder) await walk(root, path, rules, found);
    else if (entry.isFile()) found.push(path);
    else throw createRefusal(path, entry);
  }
}

async function isLeftOut(root: string, path: string, entry: Dirent, rules: Rules): Promise<boolean> {
  if (rules.exclude.has(path)) return true;
  // A link to a folder counts as a link, as in git. `.venv` is often one, so the rules for folders apply to it as well.
  const asFolder = entry.isDirectory() || entry.isSymbolicLink();
  if (rules.never.ignores(path) || (asFolder && rules.never.ignores(`${path}/`))) return true;
  // A folder is matched only with a final slash: `a/b` and `!a/b/` include the folder, although they exclude a file of that name.
  if (rules.user.ignores(entry.isDirectory() ? `${path}/` : path)) return true;
  return entry.isDirectory() && (await exists(join(root, path, ENVIRONMENT_MARK)));
}

async function readFolder(root: string, folder: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(join(root, folder), { withFileTypes: true });
  } catch (error) {
    const name = folder === "" ? root : folder;
    throw new ProjectError("INVALID_PROJECT", `The folder '${name}' cannot be read: ${getMessage(error)}`, {
      cause: error,
    });
  }
}

async function readIgnoreFile(directory: string): Promise<string> {
  try {
    return (await readFile(join(directory, IGNORE_FILE), "utf8")).replace(/^\uFEFF/, "");
  } catch (error) {
    if (getCode(error) === "ENOENT") return "";
    throw new ProjectError("INVALID_PROJECT", `${IGNORE_FILE} cannot be read: ${getMessage(error)}`, {
      cause: error,
    });
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch {
    return false;
  }
}

function createRefusal(path: string, entry: Dirent): ProjectError {
  const kind = entry.isSymbolicLink() ? "a symbolic link" : "not a regular file";
  const message = `'${path}' is ${kind}: replace it by the file itself, or name it in ${IGNORE_FILE}.`;
  return new ProjectError("INVALID_PROJECT", message, { errors: [{ path, message }] });
}

function checkNames(paths: readonly string[]): void {
  const register = createNameRegister();
  for (const path of paths) {
    const fault = findNameFault(path) ?? register(path, "file");
    if (fault === null) continue;
    const message = `'${path}' ${fault}: rename it, or name it in ${IGNORE_FILE}.`;
    throw new ProjectError("INVALID_PROJECT", message, { errors: [{ path, message }] });
  }
}
