import { getMessage } from "../base/thrown.ts";
import { runPython } from "./interpreter.ts";
import type { Interpreter } from "./interpreter.ts";
import { ProjectError } from "../project/project-error.ts";

/** Read for its dependencies when a project has no `requirements.txt`; relative to the project's folder. */
export const PYPROJECT_FILE = "pyproject.toml";

const PYPROJECT_CODE = `
import json, sys, tomllib
document = tomllib.loads(sys.stdin.buffer.read().decode())
project = document.get("project")
table = project if isinstance(project, dict) else {}
tool = document.get("tool")
poetry = tool.get("poetry") if isinstance(tool, dict) else None
print(json.dumps({
    "dependencies": table.get("dependencies", []),
    "dynamic": "dependencies" in table.get("dynamic", []),
    "poetry": project is None and isinstance(poetry, dict) and "dependencies" in poetry,
}, default=str))
`;

/**
 * The strings of `[project].dependencies`, not parsed yet. The file is read by tomllib of the base installation.
 *
 * @throws ProjectError INVALID_PROJECT
 */
export async function readPyprojectDependencies(
  text: string,
  interpreter: Interpreter,
): Promise<readonly string[]> {
  const answer = await parse(text, interpreter);
  if (typeof answer !== "object" || answer === null) return [];
  if ("dynamic" in answer && answer.dynamic === true)
    throw createInvalid(`dynamic dependencies are not supported; list them, or use requirements.txt.`);
  if ("poetry" in answer && answer.poetry === true)
    throw createInvalid(
      `[tool.poetry.dependencies] is not read; use [project].dependencies or requirements.txt.`,
    );
  const list: unknown = "dependencies" in answer ? answer.dependencies : [];
  const fault = `[project].dependencies must be a list of strings such as "numpy>=2".`;
  if (!Array.isArray(list)) throw createInvalid(fault);
  return list.map((item: unknown) => {
    if (typeof item !== "string" || item.trim().startsWith("-")) throw createInvalid(fault);
    return item;
  });
}

async function parse(text: string, interpreter: Interpreter): Promise<unknown> {
  try {
    return JSON.parse(await runPython(interpreter.executable, PYPROJECT_CODE, { input: text }));
  } catch (error) {
    throw createInvalid(`it cannot be read: ${getMessage(error)}`);
  }
}

function createInvalid(message: string): ProjectError {
  const detail = `${PYPROJECT_FILE}: ${message}`;
  return new ProjectError("INVALID_PROJECT", detail, { errors: [{ path: PYPROJECT_FILE, message: detail }] });
}
