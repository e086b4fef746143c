/** Runs programs that the console shows, as they would be copied. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { explainNoJava, run } from "./tools.ts";
import type { Finished } from "./tools.ts";

/** Languages that the console shows programs in. */
export const SHOWN_LANGUAGES = ["curl", "Python", "JavaScript", "Java"] as const;

/** A language that the console shows programs in. */
export type ShownLanguage = (typeof SHOWN_LANGUAGES)[number];

/** What quoting has to survive, besides any text: quotes, backslashes, variables, line ends, other scripts. */
export const HOSTILE = `it's "quoted" \\ \\u0041 \\\\u0022 $HOME \${HOME} $(id) \`id\` !! %s %0a äöü 漢字 😀 \u2028 \u007f \n\t\r @file {{x}} */ """ ''' <!--`;

/** The plainest locale: what is printed has to be the bytes of the answer in any. */
const ENVIRONMENT = { LC_ALL: "C" };

interface Folder {
  readonly path: string;
  readonly remove: () => Promise<void>;
}

/** A folder to run programs in. */
export async function makeFolder(): Promise<Folder> {
  const path = await mkdtemp(join(tmpdir(), "platform-snippets-"));
  return { path, remove: () => rm(path, { recursive: true }) };
}

/** A server of the test's own on a free port. */
export async function listen(listener: RequestListener) {
  const server = createServer(listener);
  await new Promise<void>((done) => void server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  return { origin: `http://127.0.0.1:${port}`, close: () => void server.close() };
}

/** The command that runs a program; a program of Java is written into the folder. */
export async function toCommand(language: ShownLanguage, program: string, folder: string) {
  if (language === "curl") return ["sh", "-c", program];
  if (language === "Python") return ["python3", "-c", program];
  if (language === "JavaScript") return ["node", "--input-type=module", "-e", program];
  const file = join(folder, "Shown.java");
  await writeFile(file, program);
  return ["java", file];
}

/** Runs a program to its end, in a folder that the files are in which it reads. */
export async function runShown(
  language: ShownLanguage,
  program: string,
  folder: string,
  environment: Readonly<Record<string, string>>,
): Promise<Finished> {
  const command = await toCommand(language, program, folder);
  return await run(command, { cwd: folder, environment: { ...ENVIRONMENT, ...environment } });
}

/** Runs a program that has to succeed, and answers what it prints, which is JSON. */
export async function runShownOk(...shown: Parameters<typeof runShown>): Promise<unknown> {
  const { code, output, stdout } = await runShown(...shown);
  if (code !== 0) throw new Error(`The program of ${shown[0]} ended with ${code}:\n${output}\n${shown[1]}`);
  return JSON.parse(stdout);
}

/** Skips the test of a language that this machine has not. */
export async function needLanguage(language: ShownLanguage, skip: (reason: string) => never): Promise<void> {
  const reason = language === "Java" ? await explainNoJava() : null;
  if (reason !== null) skip(reason);
}
