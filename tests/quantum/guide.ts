import { chmod, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { env, execPath } from "node:process";
import { CLI, REPOSITORY } from "../../tools/platform-process.ts";
import { runOk } from "../clients/tools.ts";

/** The page whose snippets are run. */
const GUIDE = join(REPOSITORY, "docs/guide/quantum.md");
/** What is no program by itself, but a file, which a later snippet uses. */
const FILES: Readonly<Record<string, string>> = {
  qasm: "bell.qasm",
  json: "my-simulator/platform.json",
  backend: "my-simulator/src/program.py",
};

/** A fenced block of the page. */
export interface Snippet {
  readonly name: string;
  readonly language: string;
  readonly text: string;
}

/** What the snippets are run with. */
interface RunSnippetOptions {
  /** An empty folder of its own, which the snippets of a page share. */
  readonly folder: string;
  readonly python: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** All snippets, but for those that install packages: the environment of the tests has them. */
export async function readSnippets(): Promise<readonly Snippet[]> {
  const page = await readFile(GUIDE, "utf8");
  return [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gmu)]
    .map(([block, language = "", text = ""]) => ({
      name: `line ${page.slice(0, page.indexOf(block)).split("\n").length} (${language})`,
      language: text.includes("gate_backend(") ? "backend" : language,
      text,
    }))
    .filter(({ text }) => !text.includes("pip install"));
}

/** What comments of a snippet say that its lines print. */
export function listPromised({ language, text }: Snippet): readonly string[] {
  if (language !== "python") return [];
  return [...text.matchAll(/^print\(.*\) +# (.+)$/gmu)].map(([, promised = ""]) => promised);
}

/** A folder with what the page calls a copy of the repository, and the command line tool. */
export async function prepareFolder(folder: string): Promise<void> {
  await mkdir(join(folder, "bin"), { recursive: true });
  for (const name of ["sdk", "backends", "examples"])
    await symlink(join(REPOSITORY, name), join(folder, name));
  const program = join(folder, "bin/platform");
  await writeFile(program, `#!/bin/sh\nexec '${execPath}' '${CLI}' "$@"\n`);
  await chmod(program, 0o755);
}

/** Runs a snippet as a reader does; what it prints. @throws Error where it fails */
export async function runSnippet(
  { language, text }: Snippet,
  { folder, python, environment }: RunSnippetOptions,
): Promise<string> {
  const file = FILES[language];
  if (file !== undefined) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
    return "";
  }
  const path = [join(folder, "bin"), env["PATH"] ?? ""].join(delimiter);
  const command = language === "sh" ? ["sh", "-euc", text] : [python, "-c", text];
  return await runOk(command, { cwd: folder, environment: { ...environment, PATH: path } });
}
