import { mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { PROJECT_FILE } from "@platform/contract/project";
import type { Project, Resources } from "@platform/contract/project";
import { getCode } from "@platform/engine/base/thrown";
import { findAsset } from "../base/assets.ts";
import { UserError } from "../base/errors.ts";

/** The starter templates that ship with the CLI: `id` is the folder below `templates/`. */
export const TEMPLATES = [
  { id: "starter", label: "plain Python without requirements" },
  { id: "numpy", label: "numpy, with typed input (pydantic) that is validated before your code runs" },
] as const;

/** Id of the template that `init` uses if none is given. */
export const DEFAULT_TEMPLATE = "starter";

/** What `init` asks for. */
export interface NewProject {
  /** Name of the service and of the folder. */
  readonly name: string;
  /** Id of one of `TEMPLATES`. */
  readonly template: string;
  readonly resources: Resources;
}

/**
 * Creates the folder `<parent>/<name>` with the files of the template and a `platform.json`. If that fails, the folder is removed again.
 *
 * @returns absolute path of the folder, and its files relative to it
 * @throws UserError DIRECTORY_EXISTS
 */
export async function createProject(
  parent: string,
  project: NewProject,
): Promise<{ readonly directory: string; readonly files: readonly string[] }> {
  const directory = join(parent, project.name);
  await createFolder(directory);
  try {
    const files = await copyTemplate(project, directory);
    return { directory, files };
  } catch (error) {
    await rm(directory, { recursive: true, force: true });
    throw error;
  }
}

async function createFolder(directory: string): Promise<void> {
  try {
    await mkdir(directory);
  } catch (error) {
    if (getCode(error) !== "EEXIST") throw error;
    throw new UserError("DIRECTORY_EXISTS", `'${directory}' already exists; nothing was changed.`, {
      cause: error,
      hint: "Choose another name, or remove it first.",
    });
  }
}

async function copyTemplate(project: NewProject, directory: string): Promise<readonly string[]> {
  const source = findAsset(`templates/${project.template}`);
  const paths = [...(await listFiles(source, "")), PROJECT_FILE].sort();
  for (const path of paths) {
    const text =
      path === PROJECT_FILE ? formatProjectFile(project) : await readFile(join(source, path), "utf8");
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), text.replaceAll("{{name}}", project.name));
  }
  return paths;
}

async function listFiles(root: string, folder: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) found.push(...(await listFiles(root, path)));
    else found.push(path);
  }
  return found.filter((path) => !path.includes("__pycache__"));
}

function formatProjectFile(project: NewProject): string {
  const content: Project = {
    name: project.name,
    descriptionFile: "README.md",
    resources: project.resources,
    runtime: "PYTHON_TEMPLATE",
  };
  return `${JSON.stringify(content, null, 2)}\n`;
}
