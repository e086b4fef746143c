import { spawn } from "node:child_process";
import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { execPath } from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { buildClient } from "../support/client-package.ts";
import type { BuiltClient, ClientLanguage, NotBuilt } from "../support/client-package.ts";
import { compileJava, runOk, toBrief } from "./tools.ts";

const programs = (name: string) => fileURLToPath(new URL(`programs/${name}`, import.meta.url));

type Given = Readonly<Record<string, unknown>>;

interface Said {
  readonly ask: number;
  readonly answer?: unknown;
  readonly error?: Given;
}

/** What a client has thrown, in the words of its language: name of the class, code, detail, id and status. */
export class ClientFailure extends Error {
  readonly failure: Given;

  constructor(failure: Given) {
    super(JSON.stringify(failure));
    this.failure = failure;
  }
}

/** A program that uses a client of the service, in one of the languages. */
export interface Driver {
  /** Calls the client; several calls may be under way. @throws ClientFailure */
  readonly ask: <T = Given>(act: string, given?: Given) => Promise<T>;
  readonly close: () => Promise<void>;
}

/** Builds a client from its ZIP file, and starts the program that uses it. `node`: what runs JavaScript. */
export async function startDriver(
  language: ClientLanguage,
  zip: string,
  folder: string,
  node = execPath,
): Promise<Driver | NotBuilt> {
  const built = await buildClient(language, zip, join(folder, "client"));
  if ("reason" in built) return built;
  return openDriver(await COMMANDS[language](built, folder, node));
}

/** How each language runs its program, outside of the client's folder. */
const COMMANDS: Readonly<
  Record<ClientLanguage, (built: BuiltClient, folder: string, node: string) => Promise<readonly string[]>>
> = {
  python: async ({ python }) => [python, programs("drive_client.py")],
  javascript: async ({ folder }, use, node) => {
    await writeFile(join(use, "package.json"), '{"type":"module"}');
    await runOk(["npm", "install", "--offline", "--silent", "--no-audit", "--no-fund", folder], { cwd: use });
    await copyFile(programs("drive-client.js"), join(use, "main.js"));
    return [node, join(use, "main.js")];
  },
  java: async ({ folder }, use) => {
    const classes = join(use, "classes");
    await mkdir(classes);
    const libraries = [join(folder, "target/classes"), join(folder, "target/lib/*")];
    await compileJava([programs("DriveClient.java")], classes, libraries);
    return ["java", "-cp", [classes, ...libraries].join(delimiter), "DriveClient"];
  },
};

function openDriver(command: readonly string[]): Driver {
  const [file = "", ...args] = toBrief(command);
  const child = spawn(file, args, { stdio: ["pipe", "pipe", "inherit"] });
  // Of a program that has ended.
  child.stdin.on("error", () => undefined);
  const waiting = new Map<number, (said: Said) => void>();
  const ended = new Promise<void>((resolve) => {
    child.on("close", () => {
      for (const [ask, settle] of waiting) settle({ ask, error: { name: "TheProgramEnded" } });
      resolve();
    });
  });
  createInterface({ input: child.stdout }).on("line", (line) => {
    const said = JSON.parse(line) as Said;
    waiting.get(said.ask)?.(said);
    waiting.delete(said.ask);
  });
  let asks = 0;
  return {
    ask: async <T>(act: string, given: Given = {}) => {
      const ask = (asks += 1);
      const answered = new Promise<Said>((resolve) => waiting.set(ask, resolve));
      child.stdin.write(`${JSON.stringify({ client: "main", ...given, ask, act })}\n`);
      const { answer, error } = await answered;
      if (error !== undefined) throw new ClientFailure(error);
      return answer as T;
    },
    close: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
