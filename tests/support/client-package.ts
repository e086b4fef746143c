import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { explainNoJava, runMaven, runOk } from "../clients/tools.ts";

/** Languages of the clients that callers download. */
export const CLIENT_LANGUAGES = ["python", "javascript", "java"] as const;

/** One of them. */
export type ClientLanguage = (typeof CLIENT_LANGUAGES)[number];

/** A client that is unpacked and built as its README says. */
export interface BuiltClient {
  /** Where it was unpacked. */
  readonly folder: string;
  /** Runs its example there. */
  readonly example: readonly string[];
  /** Python with the client installed; Node.js and Java need none. */
  readonly python: string;
}

/** Why this machine cannot build it. */
export interface NotBuilt {
  readonly reason: string;
}

/** Unpacks and builds a client; its folder is made. @throws Error when it does not build */
export async function buildClient(
  language: ClientLanguage,
  zip: string,
  folder: string,
): Promise<BuiltClient | NotBuilt> {
  await mkdir(folder, { recursive: true });
  await runOk(["python3", "-m", "zipfile", "-e", zip, folder]);
  const python = join(folder, ".venv/bin/python");
  if (language === "python") {
    await runOk(["python3", "-m", "venv", join(folder, ".venv")]);
    await runOk([python, "-m", "pip", "install", "--quiet", "--no-index", "."], { cwd: folder });
    return { folder, example: [python, "-m", "example"], python };
  }
  if (language === "javascript") {
    await runOk(["npm", "install", "--offline", "--silent", "--no-audit", "--no-fund"], { cwd: folder });
    return { folder, example: ["node", "example/example.js"], python };
  }
  const reason =
    (await explainNoJava()) ?? (await runMaven(["mvn", "--quiet", "--batch-mode", "package"], folder));
  if (reason !== null) return { reason };
  const jar = await runOk(["sh", "-c", "ls target/*.jar"], { cwd: folder });
  return { folder, example: ["java", "-jar", jar.trim()], python };
}

/** The client, or skips the test. */
export function needClient(built: BuiltClient | NotBuilt, skip: (reason: string) => never): BuiltClient {
  return "reason" in built ? skip(built.reason) : built;
}
