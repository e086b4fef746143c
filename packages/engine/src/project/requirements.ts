import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { join, posix } from "node:path";
import { pipeline } from "node:stream/promises";
import { hashContent } from "./content-hash.ts";
import type { ContentEntry } from "./content-hash.ts";
import { runPython } from "./interpreter.ts";
import type { Interpreter } from "./interpreter.ts";
import { listProjectFiles } from "./list-files.ts";
import { getMessage, getSystemCode, ProjectError } from "./project-error.ts";

/** What a project needs installed. */
export interface Requirements {
  /** Decides, together with the interpreter, which environment serves: equal text needs the same. */
  readonly identity: string;
  /** The requirements file and those that it names: relative path to text. */
  readonly files: ReadonlyMap<string, string>;
  /** Whether something is installed from the project's own files, which a build may have to write beside. */
  readonly isLocal: boolean;
}

/** The file that a build installs from. */
export const REQUIREMENTS_FILE = "requirements.txt";
const PYPROJECT_FILE = "pyproject.toml";
const MAX_FILE_BYTES = 1024 * 1024;
const MAX_NESTING = 10;

/**
 * Reads what a project needs: `requirements.txt`, else `[project].dependencies` of `pyproject.toml`; null when that is nothing.
 *
 * @throws ProjectError INVALID_PROJECT for files that cannot be understood or that reach out of the project
 */
export async function readRequirements(
  directory: string,
  interpreter: Interpreter,
): Promise<Requirements | null> {
  const text = await readText(directory, REQUIREMENTS_FILE);
  if (text !== null) {
    return createRequirements(directory, text);
  }
  const lines = await readPyproject(directory, interpreter);
  return createRequirements(directory, lines.join("\n"));
}

interface Collected {
  readonly lines: string[];
  readonly files: Map<string, string>;
  isLocal: boolean;
}

async function createRequirements(directory: string, text: string): Promise<Requirements | null> {
  const collected: Collected = { lines: [], files: new Map(), isLocal: false };
  await collect(directory, REQUIREMENTS_FILE, text, collected, 0);
  const { lines, files, isLocal } = collected;
  if (lines.length === 0) return null;
  // The content of a local package is not in the text, so the text alone does not decide what gets installed.
  const content = isLocal ? await hashProject(directory) : "";
  return { identity: [...lines, content].join("\n"), files, isLocal };
}

/** Gathers the meaningful lines of a requirements file and of those that it names, in order (order can decide in pip). */
async function collect(
  directory: string,
  file: string,
  text: string,
  into: Collected,
  depth: number,
): Promise<void> {
  if (depth > MAX_NESTING) throw createInvalid(file, `'${file}' is nested deeper than ${MAX_NESTING} files`);
  into.files.set(file, text);
  for (const line of joinLines(text)) {
    if (/^(-e\b|--editable\b)/.test(line)) {
      throw createInvalid(
        file,
        `${file}: '${line}' is editable, which a version cannot be: write the path without '-e'`,
      );
    }
    const nested = /^(?:-r|--requirement|-c|--constraint)(?:\s*=\s*|\s*)(.+)$/.exec(line)?.[1];
    into.lines.push(line);
    if (nested === undefined) {
      into.isLocal ||= isLocalLine(line);
      continue;
    }
    if (/^https?:/.test(nested)) continue;
    const path = posix.normalize(posix.join(posix.dirname(file), nested));
    const nestedText =
      path.startsWith("..") || nested.startsWith("/") ? undefined : await readText(directory, path);
    if (nestedText === undefined)
      throw createInvalid(file, `${file}: '${nested}' lies outside of the project`);
    if (nestedText === null) throw createInvalid(file, `${file}: '${nested}' does not exist`);
    await collect(directory, path, nestedText, into, depth + 1);
  }
}

/** pip's grammar: a backslash continues a line, `#` at its start or after a blank begins a comment. */
function joinLines(text: string): readonly string[] {
  const joined = text
    .replace(/^\uFEFF/, "")
    .replaceAll("\r\n", "\n")
    .replace(/\\\n/g, " ");
  return joined
    .split("\n")
    .map((line) =>
      line
        .replace(/(^|\s)#.*$/, "")
        .trim()
        .replace(/\s+/g, " "),
    )
    .filter((line) => line !== "");
}

function isLocalLine(line: string): boolean {
  if (/^(-f|--find-links)\b/.test(line)) return !/https?:/.test(line);
  if (line.startsWith("-")) return false;
  if (/(^|@\s*)file:/.test(line) || /^[./]/.test(line)) return true;
  return /^[^@:]+(\/|\.whl$|\.tar\.gz$|\.zip$)/.test(line.split(/[;\s]/)[0] ?? "");
}

const PYPROJECT_CODE = `
import json, sys, tomllib
with open(sys.argv[1], "rb") as file: document = tomllib.load(file)
project = document.get("project")
table = project if isinstance(project, dict) else {}
print(json.dumps({
    "dependencies": table.get("dependencies", []),
    "dynamic": "dependencies" in table.get("dynamic", []),
    "poetry": project is None and "dependencies" in document.get("tool", {}).get("poetry", {}),
}))
`;

async function readPyproject(directory: string, interpreter: Interpreter): Promise<readonly string[]> {
  if ((await readText(directory, PYPROJECT_FILE)) === null) return [];
  let answer: unknown;
  try {
    answer = JSON.parse(
      await runPython(interpreter.executable, PYPROJECT_CODE, { args: [join(directory, PYPROJECT_FILE)] }),
    );
  } catch (error) {
    throw createInvalid(PYPROJECT_FILE, `${PYPROJECT_FILE} cannot be read: ${getMessage(error)}`);
  }
  if (typeof answer !== "object" || answer === null) return [];
  if ("dynamic" in answer && answer.dynamic === true) {
    throw createInvalid(
      PYPROJECT_FILE,
      `${PYPROJECT_FILE}: dynamic dependencies are not supported; list them, or use ${REQUIREMENTS_FILE}`,
    );
  }
  if ("poetry" in answer && answer.poetry === true) {
    throw createInvalid(
      PYPROJECT_FILE,
      `${PYPROJECT_FILE}: [tool.poetry.dependencies] is not read; use [project].dependencies or ${REQUIREMENTS_FILE}`,
    );
  }
  return readDependencyList("dependencies" in answer ? answer.dependencies : []);
}

function readDependencyList(value: unknown): readonly string[] {
  const fault = `${PYPROJECT_FILE}: [project].dependencies must be a list of strings such as "numpy>=2"`;
  if (!Array.isArray(value)) throw createInvalid(PYPROJECT_FILE, fault);
  return value.map((item: unknown) => {
    // A line that begins with a dash would be read as an option of pip.
    if (typeof item !== "string" || /[\r\n]|^\s*-/.test(item)) throw createInvalid(PYPROJECT_FILE, fault);
    return item.trim();
  });
}

/** The text of a file in the project, or null when there is none. */
async function readText(directory: string, path: string): Promise<string | null> {
  try {
    const full = join(directory, path);
    if ((await stat(full)).size > MAX_FILE_BYTES) throw createInvalid(path, `${path} is larger than 1 MB`);
    return await readFile(full, "utf8");
  } catch (error) {
    if (error instanceof ProjectError) throw error;
    if (getSystemCode(error) === "ENOENT") return null;
    throw createInvalid(path, `${path} cannot be read: ${getMessage(error)}`);
  }
}

async function hashProject(directory: string): Promise<string> {
  const entries: ContentEntry[] = [];
  for (const path of await listProjectFiles(directory)) {
    const hash = createHash("sha256");
    let bytes = 0;
    await pipeline(createReadStream(join(directory, path)), async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) {
        bytes += chunk.length;
        hash.update(chunk);
      }
    });
    entries.push({ path, bytes, sha256: hash.digest("hex") });
  }
  return hashContent(entries);
}

function createInvalid(path: string, message: string): ProjectError {
  return new ProjectError("INVALID_PROJECT", message, { errors: [{ path, message }] });
}
