import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as util from "node:util";
import { explainVariableName } from "@platform/contract/variable-names";
import { getCode } from "@platform/engine/base/thrown";
import { UserError } from "../base/errors.ts";

/** The file beside platform.json with the variables of local runs; never packed (project/list-files.ts). */
export const ENVIRONMENT_FILE = ".env";

/** What a project's file has. */
export interface EnvironmentFile {
  readonly values: Readonly<Record<string, string>>;
  /** What the developer should know, as sentences; never a value. */
  readonly notes: readonly string[];
}

/**
 * Reads variables for local runs in place of those that are set on the platform, by the same rules of names. Without the file there are
 * none, and likewise where the name is that of a folder, as some give it to a virtual environment.
 *
 * @param declared the names that platform.json declares: those without a value are noted
 * @throws UserError ENVIRONMENT_FILE
 */
export async function readEnvironmentFile(
  directory: string,
  declared: readonly string[],
): Promise<EnvironmentFile> {
  const text = await readText(join(directory, ENVIRONMENT_FILE));
  const parsed = text === null ? {} : parse(text);
  const notes: string[] = [];
  const values: Record<string, string> = {};
  for (const [name, value = ""] of Object.entries(parsed)) {
    const fault = value.includes("\0") ? "Its value has a null character." : explainVariableName(name);
    if (fault === null) values[name] = value;
    else notes.push(`${name} of ${ENVIRONMENT_FILE} is left out. ${fault}`);
  }
  const missing = declared.filter((name) => !Object.hasOwn(values, name));
  if (missing.length > 0)
    notes.push(
      `platform.json declares ${missing.join(", ")}: add ${missing.map((name) => `${name}=...`).join(" and ")} to ${ENVIRONMENT_FILE} beside it. On the platform they are set by 'platform secrets set' or 'platform variables set'.`,
    );
  return { values, notes };
}

async function readText(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const code = getCode(error) ?? "";
    if (["ENOENT", "EISDIR"].includes(code)) return null;
    throw new UserError("ENVIRONMENT_FILE", `${path} cannot be read (${code}).`, {
      cause: error,
      hint: "Make it readable for you, or remove it.",
    });
  }
}

/** By Node's own parser, which Node 18 does not have. */
function parse(text: string): Readonly<Record<string, string | undefined>> {
  const { parseEnv }: Partial<Pick<typeof util, "parseEnv">> = util;
  if (parseEnv !== undefined) return parseEnv(text.replace(/^\uFEFF/u, ""));
  throw new UserError("ENVIRONMENT_FILE", `This Node.js cannot read ${ENVIRONMENT_FILE}.`, {
    hint: "Install Node.js 20.12 or newer, or rename the file.",
  });
}
