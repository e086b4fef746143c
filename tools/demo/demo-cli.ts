import { join } from "node:path";
import { REPOSITORY, runCli } from "../platform-process.ts";

/** The sample service. */
export const PROJECT = join(REPOSITORY, "examples", "tsp");

/** Runs a command of the CLI in the sample's folder, and returns what it prints with `--json`. */
export type DemoCli = <T>(...args: readonly string[]) => Promise<T>;

/** A CLI of its own for one of the demo's users, in the folder of a project. @throws Error with what the command printed */
export function createDemoCli(configDirectory: string, apiUrl: string, project = PROJECT): DemoCli {
  return async <T>(...args: readonly string[]) => {
    const result = await runCli([...args, "--json"], {
      cwd: project,
      configDirectory,
      environment: { PLATFORM_ENDPOINT: apiUrl },
    });
    if (result.code !== 0) throw new Error(`platform ${args[0]} failed:\n${result.stderr}${result.stdout}`);
    return JSON.parse(result.stdout) as T;
  };
}
