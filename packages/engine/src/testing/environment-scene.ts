import { execFileSync } from "node:child_process";
import { chmod, readdir } from "node:fs/promises";
import { join } from "node:path";
import { createEnvironmentBuilder } from "../environments/environment.ts";
import type { EnsureOptions, EnvironmentBuilder } from "../environments/environment.ts";
import type { Environment } from "../environments/environment-folders.ts";
import type { EnvironmentBuilderOptions } from "../environments/environment-settings.ts";
import { findInterpreter } from "../environments/interpreter.ts";
import { findExecutables } from "../host/find-executables.ts";
import { createWheel, createWorkspace, writeFiles } from "./project-fixtures.ts";

const STRANGER = { uid: 65534, gid: 65534 };
/** As root, each build has one of these. */
export const BUILD_UIDS = { first: 190_000, count: 1_000 };
export const isRoot = process.getuid?.() === 0;
export const OWNER = "organisation";
export const WHEEL = "tiny-1.0-py3-none-any.whl";
/** The folder of a build: a key, and a random part. */
const BUILD = /^v\d+-[0-9a-f]{64}-[0-9a-f]+$/;

export type EnvironmentScene = Awaited<ReturnType<typeof openScene>>;

/** Once for a file: six starts of Python. */
const tools = findTools();
// Whoever opens a scene is told.
tools.catch(() => undefined);

/** A folder of its own and a builder of environments in it. */
export async function openEnvironmentScene(): Promise<EnvironmentScene> {
  return openScene(await tools);
}

async function findTools() {
  const searchPath = process.env["PATH"] ?? "";
  return {
    interpreter: await findInterpreter({ searchPath, ...(isRoot && { readableBy: STRANGER }) }),
    bubblewrap: (await findExecutables("bwrap", searchPath))[0] ?? null,
  };
}

async function openScene(tools: Awaited<ReturnType<typeof findTools>>) {
  const workspace = await createWorkspace();
  await chmod(workspace.path, 0o755);
  const create = (options: Partial<EnvironmentBuilderOptions> = {}): EnvironmentBuilder =>
    createEnvironmentBuilder({
      directory: join(workspace.path, "cache"),
      ...tools,
      buildUids: BUILD_UIDS,
      variables: process.env,
      ...options,
    });
  const createProject = (name: string, files: Readonly<Record<string, string | Buffer>>): Promise<string> =>
    writeFiles(join(workspace.path, name), files);
  const scene = {
    ...tools,
    path: workspace.path,
    builder: create(),
    create,
    createProject,
    createTinyProject: (name: string, answer = 42): Promise<string> =>
      createProject(name, {
        "requirements.txt": `./wheels/${WHEEL}\n`,
        [`wheels/${WHEEL}`]: createWheel("tiny", { "tiny.py": `ANSWER = ${answer}\n` }),
      }),
    ensure: (project: string, options: Partial<EnsureOptions> = {}): Promise<Environment> =>
      scene.builder.ensure(project, { owner: OWNER, ...options }),
    listBuilds: async (): Promise<readonly string[]> => {
      const names = await readdir(join(workspace.path, "cache", "environments")).catch(() => []);
      return names.filter((name) => BUILD.test(name));
    },
    close: async (): Promise<void> => {
      await scene.builder.close();
      await workspace.close();
    },
  };
  return scene;
}

/** What Python in an environment prints, run as a user that owns nothing. */
export function runIn(environment: Environment, code: string): string {
  const user = isRoot ? STRANGER : {};
  return execFileSync(environment.interpreter, ["-c", code], {
    encoding: "utf8",
    cwd: "/",
    env: {},
    ...user,
  }).trim();
}
