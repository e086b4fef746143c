import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { join, posix } from "node:path";
import { getCode, getMessage } from "../base/thrown.ts";
import { hashFiles } from "../project/content-hash.ts";
import type { Interpreter } from "./interpreter.ts";
import { listProjectFiles } from "../project/list-files.ts";
import { ProjectError } from "../project/project-error.ts";
import { PYPROJECT_FILE, readPyprojectDependencies } from "./pyproject.ts";
import { isSource, parseRequirement, parseRequirementLine } from "./requirement-grammar.ts";
import type { ContentLine, Section } from "./requirement-grammar.ts";
import { RequirementError } from "./requirement-scanner.ts";
import { LineError, splitLogicalLines } from "./requirement-lines.ts";

/*
 * The requirements of a project are read once, here, and rewritten: pip and uv are given the canonical text only, and the key of an
 * environment is the hash of the same text. Lines that are not supported are refused, so that the key covers everything that is installed.
 */

/** The requirements of a project. They alone decide what is installed; nothing else in the project does. */
export interface Requirements {
  /** Canonical text of the lines to install; paths begin with `./project/`. */
  readonly text: string;
  /** Canonical text of the lines that only constrain versions; "" when there are none. */
  readonly constraints: string;
  /** Hash of all the project's files when something is installed from them, else null. */
  readonly content: string | null;
  /** Whether every requirement must have a hash: pip's rule as soon as one of them has. */
  readonly requiresHashes: boolean;
  /** Whether every line is `name==version --hash=...` from the operator's index: installed from wheels, the bytes are always the same. */
  readonly isPinned: boolean;
  /** Why these cannot be installed from wheels alone, naming the first such line; null when they may be. */
  readonly sourceFault: ProjectError | null;
}

/**
 * SHA-256 in hex of the canonical text: what is installed, then the constraints below a line `# constraints`, then, where something is installed from
 * the project's files, a line `# project` with the hash of these. No requirements: of no text.
 */
export function hashRequirements(requirements: Requirements | null): string {
  const { text, constraints, content } = requirements ?? { text: "", constraints: "", content: null };
  return createHash("sha256")
    .update(text)
    .update(constraints === "" ? "" : `# constraints\n${constraints}`)
    .update(content === null ? "" : `# project ${content}\n`)
    .digest("hex");
}

/** The canonical text for people, without the users, passwords and queries that addresses may have: who may read a version may not read these. */
export function describeRequirements(requirements: Requirements | null): string {
  if (requirements === null) return "";
  const { text, constraints } = requirements;
  const whole = constraints === "" ? text : `${text}# constraints\n${constraints}`;
  // To the last @ before the path, as installers read an address.
  return whole.replaceAll(/:\/\/[^\s/]*@/gu, "://").replaceAll(/\?[^\s#]*/gu, "?…");
}

/** Where a build puts the project's files, relative to the folder of the canonical text: a name that no requirement can have. */
export const PROJECT_FOLDER = "project";
/** The file of a project that names what to install; also the name of the canonical text in a build's folder. */
export const REQUIREMENTS_FILE = "requirements.txt";
/** Name of the canonical constraints in a build's folder; a project's own files of constraints can have any name. */
export const CONSTRAINTS_FILE = "constraints.txt";
/** Of all requirement files together, each counted as often as it is named. */
const MAX_BYTES = 64 * 1024;
const MAX_NESTING = 10;

/**
 * Reads the requirements of a project: `requirements.txt`, else `[project].dependencies` of `pyproject.toml`; null when there are none.
 *
 * @throws ProjectError INVALID_PROJECT, with file and line, for a line that is not supported or names a file outside the project
 */
export async function readRequirements(
  directory: string,
  interpreter: Interpreter,
): Promise<Requirements | null> {
  const collected: Collected = {
    directory,
    bytes: 0,
    lines: [],
    constraints: [],
    paths: [],
    requiresHashes: false,
    isPinned: true,
    sourceFault: null,
  };
  if (!(await collectFile(collected, REQUIREMENTS_FILE, "requirements", 0)))
    await collectPyproject(collected, interpreter);
  const { lines, constraints, paths, requiresHashes, isPinned } = collected;
  if (!lines.some((line) => !line.startsWith("--"))) return null;
  return {
    text: joinLines(lines),
    constraints: joinLines(constraints),
    content: paths.length === 0 ? null : await hashLocalContent(directory, paths),
    requiresHashes,
    isPinned: isPinned && constraints.length === 0,
    sourceFault: collected.sourceFault,
  };
}

interface LocalPath {
  readonly file: string;
  readonly number: number;
  readonly path: string;
}

interface Collected {
  readonly directory: string;
  bytes: number;
  readonly lines: string[];
  readonly constraints: string[];
  readonly paths: LocalPath[];
  requiresHashes: boolean;
  isPinned: boolean;
  sourceFault: ProjectError | null;
}

/** Adds the lines of a file and of those that it names, in order (order can decide in pip); false when there is no such file. */
async function collectFile(into: Collected, file: string, section: Section, depth: number): Promise<boolean> {
  const text = await readText(into, file);
  if (text === null) return false;
  if (depth > MAX_NESTING) throw createInvalid(file, `'${file}' is nested deeper than ${MAX_NESTING} files.`);
  for (const { number, text: line } of readLines(file, text)) {
    const quoted = { file, number, text: line };
    const parsed = atLine(quoted, () => parseRequirementLine(line));
    if (parsed.kind !== "file") {
      atLine(quoted, () => addLine(into, { file, number, section }, parsed));
      noteSource(into, quoted, parsed);
      continue;
    }
    if (section === "constraints" && parsed.section === "requirements")
      throw createLineError(quoted, "requirements cannot be named in a file of constraints");
    const nested = posix.join(posix.dirname(file), parsed.path);
    if (nested.startsWith("..")) throw createLineError(quoted, "it lies outside of the project");
    if (!(await collectFile(into, nested, parsed.section, depth + 1)))
      throw createLineError(quoted, `'${nested}' does not exist in the project`);
  }
  return true;
}

async function collectPyproject(into: Collected, interpreter: Interpreter): Promise<void> {
  const text = await readText(into, PYPROJECT_FILE);
  if (text === null) return;
  for (const line of await readPyprojectDependencies(text, interpreter)) {
    const [only, ...others] = readLines(PYPROJECT_FILE, line);
    if (only === undefined || others.length > 0 || line.includes("--hash"))
      throw createInvalid(PYPROJECT_FILE, `${PYPROJECT_FILE}: ${quote(line)} is not one requirement.`);
    const quoted = { file: PYPROJECT_FILE, number: null, text: line };
    const parsed = atLine(quoted, () => parseRequirement(only.text));
    atLine(quoted, () => addLine(into, { file: PYPROJECT_FILE, number: 0, section: "requirements" }, parsed));
    noteSource(into, quoted, parsed);
  }
}

/** An address or a path that is no wheel is a source, which would be built. */
function noteSource(into: Collected, quoted: QuotedLine, line: ContentLine): void {
  if (into.sourceFault !== null || !isSource(line)) return;
  const error = new RequirementError(
    'it is built from its source, which runs its code; name a wheel, or set "sourceBuilds": true in platform.json',
  );
  into.sourceFault = createLineError(quoted, error.message, error);
}

interface Place {
  readonly file: string;
  readonly number: number;
  readonly section: Section;
}

/** @throws RequirementError */
function addLine(into: Collected, place: Place, line: ContentLine): void {
  if (place.section === "constraints") {
    if (line.kind !== "named" || line.hasExtras || line.hashes.length > 0)
      throw new RequirementError(
        "a constraint is a name with versions, without extras, address, hash or option",
      );
    into.constraints.push(line.text);
    return;
  }
  const hasHash = "hashes" in line && line.hashes.length > 0;
  into.requiresHashes ||= hasHash || line.kind === "require-hashes";
  if (line.kind === "require-hashes") return;
  into.isPinned &&= line.kind === "named" && line.isPinned && hasHash;
  into.lines.push(writeLine(into, place, line));
}

function writeLine(
  into: Collected,
  { file, number }: Place,
  line: Exclude<ContentLine, { readonly kind: "require-hashes" }>,
): string {
  if (line.kind !== "path" && line.kind !== "find-links") return line.text;
  // pip takes a path from the working directory, and a folder of links from the folder of the file.
  if (posix.dirname(file) !== ".")
    throw new RequirementError("a path can only be named in a file that lies in the project's root");
  into.paths.push({ file, number, path: line.path });
  const inside = line.path === "." ? `./${PROJECT_FOLDER}` : `./${PROJECT_FOLDER}/${line.path}`;
  return line.kind === "path" ? `${inside}${line.suffix}` : `--find-links ${inside}`;
}

function joinLines(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

/** The text of a file in the project, or null when there is none. Only UTF-8, and only so much. */
async function readText(into: Collected, file: string): Promise<string | null> {
  const path = join(into.directory, file);
  try {
    const stats = await stat(path);
    if (!stats.isFile()) throw createInvalid(file, `${file} is not a file.`);
    into.bytes += stats.size;
    if (into.bytes > MAX_BYTES)
      throw createInvalid(
        file,
        `${file}: requirements may have ${MAX_BYTES / 1024} kB in all, with the files that they name.`,
      );
    // A byte order mark at the very beginning is removed; elsewhere it is refused like other invisible characters.
    return new TextDecoder("utf-8", { fatal: true }).decode(await readFile(path));
  } catch (error) {
    if (error instanceof ProjectError) throw error;
    if (getCode(error) === "ENOENT" || getCode(error) === "ENOTDIR") return null;
    const reason = error instanceof TypeError ? "it is not UTF-8; save it as UTF-8." : getMessage(error);
    throw createInvalid(file, `${file} cannot be read: ${reason}`);
  }
}

function readLines(file: string, text: string): ReturnType<typeof splitLogicalLines> {
  try {
    return splitLogicalLines(text);
  } catch (error) {
    if (!(error instanceof LineError)) throw error;
    throw createInvalid(file, `${file}, line ${error.line}: ${error.message}.`, error);
  }
}

/** A line as its author wrote it; `number` is null where lines have none. */
interface QuotedLine {
  readonly file: string;
  readonly number: number | null;
  readonly text: string;
}

function atLine<T>(line: QuotedLine, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof RequirementError) throw createLineError(line, error.message, error);
    throw error;
  }
}

function createLineError({ file, number, text }: QuotedLine, reason: string, cause?: unknown): ProjectError {
  const place = number === null ? file : `${file}, line ${number}`;
  return createInvalid(file, `${place}: ${quote(text)}: ${reason}.`, cause);
}

const MAX_QUOTE = 80;

function quote(text: string): string {
  return `'${text.length > MAX_QUOTE ? `${text.slice(0, MAX_QUOTE)}...` : text}'`;
}

/** The hash of all files of the project: what is built from one of them may read the others. Each path must name one, or a folder of some. */
async function hashLocalContent(directory: string, paths: readonly LocalPath[]): Promise<string> {
  const files = await listProjectFiles(directory);
  const known = new Set(["."]);
  for (const file of files) {
    for (let path = file; path !== "." && !known.has(path); path = posix.dirname(path)) known.add(path);
  }
  for (const { file, number, path } of paths) {
    if (!known.has(path))
      throw createLineError({ file, number, text: path }, "it does not exist in the project");
  }
  return await hashFiles(directory, files);
}

function createInvalid(path: string, message: string, cause?: unknown): ProjectError {
  return new ProjectError("INVALID_PROJECT", message, { errors: [{ path, message }], cause });
}

/** Whether the error is in the text of a requirement, so that the build would fail in the same way on any machine, at any time. */
export function isFaultOfText(error: ProjectError): boolean {
  return error.cause instanceof RequirementError || error.cause instanceof LineError;
}
