import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { PROGRAM_FILE, PROJECT_FILE, ProjectSchema } from "@platform/contract/project";
import type { Project } from "@platform/contract/project";
import { Ajv } from "ajv";
import { findNameFault } from "./entry-names.ts";
import { formatBytes } from "./limits.ts";
import { getMessage, getSystemCode, ProjectError } from "./project-error.ts";
import type { ProjectFault } from "./project-error.ts";
import { describeSchemaFaults } from "./schema-faults.ts";

const MAX_PROJECT_FILE_BYTES = 1024 * 1024;

// 0.3 is not a multiple of 0.001 in binary arithmetic; a precision of six digits makes it one.
const validate = new Ajv({
  allErrors: true,
  verbose: true,
  strict: false,
  multipleOfPrecision: 6,
}).compile<Project>(ProjectSchema);

/**
 * Reads and checks a project: `platform.json` against its schema, and that the files it needs are there.
 *
 * @throws ProjectError INVALID_PROJECT, with one entry in `errors` per fault
 */
export async function readProject(directory: string): Promise<Project> {
  const project = parseProject(await readProjectFile(directory));
  const faults = await findFileFaults(directory, project);
  if (faults.length > 0) throw createInvalid(faults);
  return project;
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
  if (validate(value)) return value;
  const runtime = findUnknownRuntime(value);
  const faults = describeSchemaFaults(validate.errors ?? []);
  throw createInvalid(
    faults.map((fault) => (fault.path === "/runtime" && runtime !== null ? runtime : fault)),
  );
}

async function readProjectFile(directory: string): Promise<string> {
  const path = join(directory, PROJECT_FILE);
  try {
    const { size } = await stat(path);
    if (size > MAX_PROJECT_FILE_BYTES) {
      const limit = formatBytes(MAX_PROJECT_FILE_BYTES);
      throw new ProjectError("INVALID_PROJECT", `${PROJECT_FILE} is larger than ${limit}`);
    }
    return await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof ProjectError) throw error;
    const detail =
      getSystemCode(error) === "ENOENT"
        ? `${PROJECT_FILE} is missing: a project's root folder holds one`
        : `${PROJECT_FILE} cannot be read: ${getMessage(error)}`;
    throw new ProjectError("INVALID_PROJECT", detail, { cause: error });
  }
}

function findUnknownRuntime(value: unknown): ProjectFault | null {
  if (typeof value !== "object" || value === null || !("runtime" in value)) return null;
  const allowed = ProjectSchema.properties.runtime.const;
  const message = `runtime ${JSON.stringify(value.runtime)} is not known; the only one is "${allowed}"`;
  return { path: "/runtime", message };
}

async function findFileFaults(directory: string, project: Project): Promise<readonly ProjectFault[]> {
  const faults: ProjectFault[] = [];
  if (!(await isFile(join(directory, PROGRAM_FILE)))) {
    faults.push({ path: PROGRAM_FILE, message: `${PROGRAM_FILE} is missing: it holds the function 'run'` });
  }
  const { descriptionFile } = project;
  if (descriptionFile === undefined) return faults;
  const nameFault = findNameFault(descriptionFile.replace(/^\.\//, ""));
  if (nameFault !== null) {
    faults.push({ path: "/descriptionFile", message: `descriptionFile '${descriptionFile}' ${nameFault}` });
  } else if (!(await isFile(join(directory, descriptionFile)))) {
    faults.push({ path: "/descriptionFile", message: `descriptionFile '${descriptionFile}' does not exist` });
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

function createInvalid(errors: readonly ProjectFault[]): ProjectError {
  const text = errors.map((fault) => fault.message).join("; ");
  const about = errors.some((fault) => !fault.path.startsWith("/") && fault.path !== "")
    ? ""
    : `${PROJECT_FILE}: `;
  return new ProjectError("INVALID_PROJECT", `${about}${text}`, { errors });
}
