import { execFile } from "node:child_process";
import { mkdir, readdir } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { env, execPath } from "node:process";
import { fileURLToPath } from "node:url";

const INSTALL = fileURLToPath(new URL("install.sh", import.meta.url));
/** With this code the script says that the machine lacks something that it cannot install. */
const CANNOT_INSTALL = 3;
/** Two runs of Maven that download into one repository could meet. */
const MAVEN_LOCK = fileURLToPath(new URL("../../.cache/clients/maven.lock", import.meta.url));
/** What Maven says where it cannot reach its repository, and has not what it needs. */
const OUT_OF_REACH = /Could not transfer|Unknown host|UnknownHostException|No route to host|in offline mode/u;
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
/** For programs of Java that end in seconds: to optimize their code takes longer than to run it, and more than half of the processor time. */
const BRIEF_JAVA = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"] as const;

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
  const [file = "", ...args] = toBrief(command);
  const path = [dirname(execPath), env["PATH"] ?? ""].join(delimiter);
  return new Promise((resolve, reject) => {
    execFile(
      file,
      args,
      {
        maxBuffer: MAX_OUTPUT_BYTES,
        env: {
          ...env,
          PATH: path,
          MAVEN_OPTS: [env["MAVEN_OPTS"], ...BRIEF_JAVA].join(" "),
          ...options.environment,
        },
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

/** The command, which does not optimize what it runs where that is Java. */
export function toBrief(command: readonly string[]): readonly string[] {
  const [file, ...args] = command;
  if (file === "java") return [file, ...BRIEF_JAVA, ...args];
  if (file === "javac") return [file, ...BRIEF_JAVA.map((flag) => `-J${flag}`), ...args];
  return command;
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

/** The folder of the jars, or skips the test. */
export async function needJava(skip: (reason: string) => never): Promise<string> {
  const java = await install("java");
  return "reason" in java ? skip(java.reason) : java.folder;
}

/** Why this machine has no Java and Maven; null: it has. */
export async function explainNoJava(): Promise<string | null> {
  const java = await install("java");
  return "reason" in java ? java.reason : null;
}

/** Runs a command that runs Maven; null, or why this machine cannot have what Maven needs. @throws Error when it fails otherwise */
export async function runMaven(command: readonly string[], cwd?: string): Promise<string | null> {
  await mkdir(dirname(MAVEN_LOCK), { recursive: true });
  const { code, output } = await run(["flock", MAVEN_LOCK, ...command], cwd === undefined ? {} : { cwd });
  if (code === 0) return null;
  if (OUT_OF_REACH.test(output)) return `Maven's repository cannot be reached: ${output.slice(0, 500)}`;
  throw new Error(`${command.join(" ")} ended with ${code}:\n${output}`);
}

/** Compiles the Java files below folders, or single ones; the class path of the result. */
export async function compileJava(
  sources: readonly string[],
  classes: string,
  libraries: readonly string[],
): Promise<string> {
  const files = await Promise.all(
    sources.map(async (source) =>
      source.endsWith(".java")
        ? [source]
        : (await readdir(source, { recursive: true }))
            .filter((name) => name.endsWith(".java"))
            .map((name) => join(source, name)),
    ),
  );
  const path = [classes, ...libraries].join(delimiter);
  await runOk(["javac", "-nowarn", "-encoding", "UTF-8", "-d", classes, "-cp", path, ...files.flat()]);
  return path;
}
