import { execFile } from "node:child_process";
import { delimiter, dirname } from "node:path";
import { env, execPath } from "node:process";
import { fileURLToPath } from "node:url";

const INSTALL = fileURLToPath(new URL("install.sh", import.meta.url));
/** With this code the script says that the machine lacks something that it cannot install. */
const CANNOT_INSTALL = 3;
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

export interface Finished {
  readonly code: number;
  /** Both streams, in the order of their arrival at the end of each. */
  readonly output: string;
  readonly stdout: string;
}

export interface CommandOptions {
  readonly cwd?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Runs a command to its end, whatever its exit code. Node is the one of this process. */
export function run(command: readonly string[], options: CommandOptions = {}): Promise<Finished> {
  const [file = "", ...args] = command;
  const path = [dirname(execPath), env["PATH"] ?? ""].join(delimiter);
  return new Promise((resolve, reject) => {
    execFile(
      file,
      args,
      {
        maxBuffer: MAX_OUTPUT_BYTES,
        env: { ...env, PATH: path, ...options.environment },
        ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : error.code;
        if (typeof code === "number") resolve({ code, output: `${stdout}${stderr}`, stdout });
        else reject(error);
      },
    );
  });
}

/** Runs a command that has to succeed, and returns its standard output. */
export async function runOk(command: readonly string[], options: CommandOptions = {}): Promise<string> {
  const { code, output, stdout } = await run(command, options);
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}:\n${output}`);
  return stdout;
}

/** Installs tools of a kind where they are not there yet; the folder, or why this machine cannot have them. */
export async function install(
  kind: "node" | "python" | "java",
): Promise<{ readonly folder: string } | { readonly reason: string }> {
  const { code, output, stdout } = await run(["sh", INSTALL, kind]);
  if (code === CANNOT_INSTALL) return { reason: output.trim() };
  if (code !== 0) throw new Error(`The tools for ${kind} could not be installed:\n${output}`);
  return { folder: stdout.trim() };
}

/** As `install`, for what every machine can have. */
export async function installOrFail(kind: "node" | "python"): Promise<string> {
  const installed = await install(kind);
  if ("reason" in installed) throw new Error(installed.reason);
  return installed.folder;
}
