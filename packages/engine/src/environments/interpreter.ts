import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { getMessage } from "../base/thrown.ts";
import { SECOND } from "../base/time.ts";
import { findExecutables, SYSTEM_FOLDERS } from "../host/find-executables.ts";
import { runTrusted } from "../host/processes.ts";
import { TrustedExecutable } from "../host/trusted-executable.ts";
import { findAccessFault } from "./access.ts";
import type { SystemUser } from "./access.ts";
import { ProjectError } from "../project/project-error.ts";

/** A Python installation that executions and builds can use. */
export interface Interpreter {
  /** The real executable: neither a version manager's shim nor a virtual environment nor a symbolic link. */
  readonly executable: TrustedExecutable;
  /** `3.12.4` */
  readonly version: string;
  readonly basePrefix: string;
  /** Absolute paths that a sandbox must show besides the system directories so that the interpreter runs. */
  readonly readablePaths: readonly string[];
}

/** Where to search for a Python, and who must be able to use it. */
export interface InterpreterOptions {
  /** The value of `PATH`. */
  readonly searchPath: string;
  /** The user that will run it, when that is not the user of this process. */
  readonly readableBy?: SystemUser;
  /** Candidates that are tried instead of the usual places. */
  readonly candidates?: readonly string[];
  /** A folder of installations made by `uv python install`. */
  readonly managedDirectory?: string;
}

/** The runtime contract says Python 3.11 or newer. */
const MINIMUM_MINOR = 11;
const NAMES = ["python3", "python3.14", "python3.13", "python3.12", "python3.11"];

/** Every sandbox shows these read-only. */
const SYSTEM_DIRECTORIES = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

const QUESTION_TIMEOUT = 20 * SECOND;

/**
 * Finds the first Python that is new enough and that the given user can run and read. Looks at `python3` and the numbered names on
 * the search path, then in the system's folders, then below `managedDirectory`.
 *
 * @throws ProjectError INTERPRETER_NOT_FOUND, naming each candidate and what was wrong with it
 */
export async function findInterpreter(options: InterpreterOptions): Promise<Interpreter> {
  const candidates = await listCandidates(options);
  const faults: string[] = [];
  const judged = new Set<string>();
  for (const candidate of candidates) {
    try {
      const answer = await ask(candidate);
      const { path } = answer.executable;
      if (judged.has(path)) continue;
      judged.add(path);
      const fault = await findFault(answer, options.readableBy);
      if (fault === null) return describe(answer);
      const resolved = path === candidate.path ? "" : ` (${path})`;
      faults.push(`${candidate.path}${resolved}: ${fault}`);
    } catch (error) {
      faults.push(`${candidate.path}: does not work (${getMessage(error)})`);
    }
  }
  const tried = faults.length === 0 ? "no python3 was found on PATH" : faults.join("; ");
  throw new ProjectError(
    "INTERPRETER_NOT_FOUND",
    `No usable Python 3.${MINIMUM_MINOR} or newer: ${tried}. Install one for all users (on Debian: python3 and python3-venv).`,
    { errors: faults.map((fault) => ({ path: "", message: `${fault}.` })) },
  );
}

async function listCandidates(options: InterpreterOptions): Promise<readonly TrustedExecutable[]> {
  if (options.candidates !== undefined)
    return options.candidates.map((path) => TrustedExecutable.vouchFor(path, "named by the operator"));
  const found: TrustedExecutable[] = [];
  for (const searchPath of [options.searchPath, SYSTEM_FOLDERS]) {
    for (const name of NAMES) found.push(...(await findExecutables(name, searchPath)));
  }
  if (options.managedDirectory !== undefined) found.push(...(await listManaged(options.managedDirectory)));
  return [...new Map(found.map((program) => [program.path, program])).values()];
}

async function listManaged(directory: string): Promise<readonly TrustedExecutable[]> {
  const folders = await readdir(directory).catch(() => []);
  const newestFirst = folders.sort((a, b) => b.localeCompare(a, "en", { numeric: true }));
  const found: TrustedExecutable[] = [];
  for (const folder of newestFirst)
    found.push(...(await findExecutables("python3", join(directory, folder, "bin"))));
  return found;
}

interface Answer {
  readonly executable: TrustedExecutable;
  readonly version: string;
  readonly basePrefix: string;
  readonly stdlib: string;
}

// In a virtual environment sys.executable is the environment's; _base_executable is the installation's (set by site since 3.7).
const QUESTION = `
import json, os, sys, sysconfig
base = getattr(sys, "_base_executable", None) or sys.executable
print(json.dumps([os.path.realpath(base), "%d.%d.%d" % sys.version_info[:3], os.path.realpath(sys.base_prefix), os.path.realpath(sysconfig.get_path("stdlib"))]))
`;

async function ask(candidate: TrustedExecutable): Promise<Answer> {
  const parsed: unknown = JSON.parse(await runPython(candidate, QUESTION));
  if (!Array.isArray(parsed)) throw new Error("gave no sensible answer");
  const [executable, version, basePrefix, stdlib] = parsed.map(String);
  if (executable === undefined || version === undefined || basePrefix === undefined || stdlib === undefined) {
    throw new Error("gave no sensible answer");
  }
  return {
    executable: TrustedExecutable.vouchFor(executable, "base interpreter"),
    version,
    basePrefix,
    stdlib,
  };
}

async function findFault(answer: Answer, user: SystemUser | undefined): Promise<string | null> {
  const [major, minor] = answer.version.split(".").map(Number);
  if (major !== 3 || minor === undefined || minor < MINIMUM_MINOR) return `is Python ${answer.version}`;
  const other = user !== undefined && user.uid !== process.getuid?.() ? user : undefined;
  if (other !== undefined) {
    const fault =
      (await findAccessFault(answer.executable.path, other, true)) ??
      (await findAccessFault(answer.stdlib, other, true));
    if (fault !== null) return fault;
  }
  // Only root can run it as another user; other processes have checked the mode bits.
  return findTrialFault(answer, process.getuid?.() === 0 ? other : undefined);
}

// The mode bits of a path do not cover the content of a folder, access lists or noexec mounts: so the interpreter is run as that user.
const TRIAL = `
import os, sys
import asyncio, ctypes, json
for folder, _, names in os.walk(sys.argv[1], onerror=lambda error: print(error.filename)):
    if "site-packages" in folder or "__pycache__" in folder: continue
    for name in names:
        path = os.path.join(folder, name)
        if not os.access(path, os.R_OK): print(path)
`;

async function findTrialFault(answer: Answer, user: SystemUser | undefined): Promise<string | null> {
  try {
    const unreadable = (
      await runPython(answer.executable, TRIAL, { args: [answer.stdlib], ...(user && { user }) })
    ).trim();
    if (unreadable === "") return null;
    const who = user === undefined ? "this user" : `uid ${user.uid}`;
    return `'${unreadable.split("\n")[0] ?? ""}' cannot be read by ${who}`;
  } catch (error) {
    return `does not work (${getMessage(error)})`;
  }
}

function describe(answer: Answer): Interpreter {
  const needed = [answer.basePrefix, answer.executable.path, answer.stdlib];
  const outside = needed.filter((path) => !SYSTEM_DIRECTORIES.some((folder) => isWithin(path, folder)));
  const readablePaths = outside.filter(
    (path) => !outside.some((other) => other !== path && isWithin(path, other)),
  );
  const { executable, version, basePrefix } = answer;
  return { executable, version, basePrefix, readablePaths: [...new Set(readablePaths)] };
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

/** How a few lines of Python are run: arguments, input, user. */
export interface RunPythonOptions {
  /** `sys.argv[1:]`. */
  readonly args?: readonly string[];
  /** What the code reads from its standard input. */
  readonly input?: string;
  /** Only root can name another user. Missing: the user of this process. */
  readonly user?: SystemUser;
}

/** Runs a few lines of Python, isolated from the working directory and from PYTHON* variables; resolves to what they print. */
export async function runPython(
  executable: TrustedExecutable,
  code: string,
  { args = [], input, user }: RunPythonOptions = {},
): Promise<string> {
  return runTrusted(executable, ["-I", "-c", code, ...args], {
    timeout: QUESTION_TIMEOUT,
    cwd: "/",
    env: { PATH: SYSTEM_FOLDERS, LANG: "C.UTF-8" },
    ...(input !== undefined && { input }),
    ...(user && { uid: user.uid, gid: user.gid }),
  });
}
