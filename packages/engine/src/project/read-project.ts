import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { normalize } from "node:path/posix";
import { MAX_PROJECT_FILE_BYTES } from "@platform/contract/limits";
import { PROGRAM_FILE, PROJECT_FILE, ProjectSchema } from "@platform/contract/project";
import type { Project } from "@platform/contract/project";
import { getCode, getMessage } from "../base/thrown.ts";
import { isDeeperThan } from "../base/json.ts";
import { openArchive } from "./archive.ts";
import { findNameFault } from "./entry-names.ts";
import { formatBytes } from "./limits.ts";
import type { ProjectLimits } from "./limits.ts";
import { ProjectError, ProjectFileMissingError } from "./project-error.ts";
import type { FieldError } from "@platform/contract/problems";
import { createSchemaCheck } from "./schema-check.ts";
import { quote } from "./schema-faults.ts";

const MAX_PROJECT_DEPTH = 32;
const check = createSchemaCheck<Project>(ProjectSchema);

/**
 * Reads and checks a project: `platform.json` against its schema, and that the files it needs are there.
 *
 * @throws ProjectError INVALID_PROJECT, with one entry in `errors` per fault
 */
export async function readProject(directory: string): Promise<Project> {
  const project = parseProject(await readProjectFile(directory));
  await checkProjectFiles(project, (path) => isFile(join(directory, path)));
  return project;
}

/**
 * Reads and checks a project that is still an archive, as `readProject` does an unpacked one: only `platform.json` is inflated.
 *
 * @throws ProjectError INVALID_ARCHIVE, ARCHIVE_TOO_LARGE, INVALID_PROJECT
 */
export async function readArchivedProject(
  archivePath: string,
  limits: Partial<ProjectLimits> = {},
): Promise<Project> {
  const archive = await openArchive(archivePath, limits);
  try {
    const files = new Map(
      archive.items.filter(({ kind }) => kind === "file").map((item) => [item.path, item] as const),
    );
    const item = files.get(PROJECT_FILE);
    if (item === undefined) throw new ProjectFileMissingError();
    checkProjectFileSize(item.entry.uncompressedSize);
    const chunks: Buffer[] = [];
    await archive.read(item, async (source) => {
      for await (const chunk of source) chunks.push(chunk);
    });
    const project = parseProject(Buffer.concat(chunks).toString("utf8"));
    await checkProjectFiles(project, async (path) => files.has(normalize(path)));
    return project;
  } finally {
    archive.close();
  }
}

/**
 * Parses the text of a `platform.json`.
 *
 * @throws ProjectError INVALID_PROJECT
 */
export function parseProject(text: string): Project {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw new ProjectError("INVALID_PROJECT", `${PROJECT_FILE} is not JSON: ${getMessage(error)}`, {
      cause: error,
    });
  }
  if (isDeeperThan(value, MAX_PROJECT_DEPTH))
    throw new ProjectError(
      "INVALID_PROJECT",
      `${PROJECT_FILE} is nested deeper than ${MAX_PROJECT_DEPTH} levels.`,
    );
  const checked = check(value);
  if ("value" in checked) return checked.value;
  const runtime = findUnknownRuntime(value);
  const faults = nameNetworkOnce(checked.faults, value);
  throw createInvalid(
    faults.map((fault) => (fault.path === "/runtime" && runtime !== null ? runtime : fault)),
  );
}

async function readProjectFile(directory: string): Promise<string> {
  const path = join(directory, PROJECT_FILE);
  try {
    checkProjectFileSize((await stat(path)).size);
    return await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof ProjectError) throw error;
    if (getCode(error) === "ENOENT") throw new ProjectFileMissingError(error);
    throw new ProjectError("INVALID_PROJECT", `${PROJECT_FILE} cannot be read: ${getMessage(error)}`, {
      cause: error,
    });
  }
}

function checkProjectFileSize(bytes: number): void {
  if (bytes <= MAX_PROJECT_FILE_BYTES) return;
  const limit = formatBytes(MAX_PROJECT_FILE_BYTES);
  throw new ProjectError("INVALID_PROJECT", `${PROJECT_FILE} is larger than ${limit}.`);
}

function findUnknownRuntime(value: unknown): FieldError | null {
  if (typeof value !== "object" || value === null || !("runtime" in value)) return null;
  const allowed = ProjectSchema.properties.runtime.const;
  const message = `runtime ${quote(value.runtime)} is not known; the only one is "${allowed}".`;
  return { path: "/runtime", message };
}

const NETWORK_PATH = "/network";

/** `network` fails once for each of its forms: what counts are the faults of the list of hosts, if it has one. */
function nameNetworkOnce(faults: readonly FieldError[], document: unknown): readonly FieldError[] {
  if (!faults.some(({ path }) => path === NETWORK_PATH)) return faults;
  const others = faults.filter(({ path }) => path !== NETWORK_PATH);
  if (others.some(({ path }) => path.startsWith(`${NETWORK_PATH}/`))) return others;
  const value =
    typeof document === "object" && document !== null && "network" in document && document.network;
  const message = `network must be "none", "egress" or {"hosts": ["api.example.org", "203.0.113.0/24"]}, not ${quote(value)}.`;
  return [...others, { path: NETWORK_PATH, message }];
}

type HasFile = (path: string) => Promise<boolean>;

async function checkProjectFiles(project: Project, hasFile: HasFile): Promise<void> {
  const faults = await findFileFaults(project, hasFile);
  if (faults.length > 0) throw createInvalid(faults);
}

async function findFileFaults(project: Project, hasFile: HasFile): Promise<readonly FieldError[]> {
  const faults: FieldError[] = [];
  if (!(await hasFile(PROGRAM_FILE))) {
    faults.push({ path: PROGRAM_FILE, message: `${PROGRAM_FILE} is missing: it holds the function 'run'.` });
  }
  const { descriptionFile } = project;
  if (descriptionFile === undefined) return faults;
  const nameFault = findNameFault(descriptionFile.replace(/^\.\//, ""));
  if (nameFault !== null) {
    faults.push({ path: "/descriptionFile", message: `descriptionFile '${descriptionFile}' ${nameFault}.` });
  } else if (!(await hasFile(descriptionFile))) {
    faults.push({
      path: "/descriptionFile",
      message: `descriptionFile '${descriptionFile}' does not exist.`,
    });
  }
  return faults;
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

function createInvalid(errors: readonly FieldError[]): ProjectError {
  const text = errors.map((fault) => fault.message).join(" ");
  const about = errors.some((fault) => !fault.path.startsWith("/") && fault.path !== "")
    ? ""
    : `${PROJECT_FILE}: `;
  return new ProjectError("INVALID_PROJECT", `${about}${text}`, { errors });
}
