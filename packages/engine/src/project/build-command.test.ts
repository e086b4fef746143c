import { execFileSync } from "node:child_process";
import { chmod } from "node:fs/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findExecutables } from "../host/find-executables.ts";
import { TrustedExecutable } from "../host/trusted-executable.ts";
import { runBuildCommand } from "./build-command.ts";
import type { BuildContext } from "./build-command.ts";
import { createBuildSandbox } from "./build-sandbox.ts";
import { createWorkspace } from "./project-fixtures.ts";
import type { Workspace } from "./project-fixtures.ts";

const STRANGER = { uid: 65534, gid: 65534 };
const ATTEMPTS = 60;

let workspace: Workspace;
beforeEach(async () => {
  workspace = await createWorkspace();
  await chmod(workspace.path, 0o777);
});
afterEach(() => workspace.close());

function listProcesses(argument: string): readonly string[] {
  const lines = execFileSync("ps", ["-eo", "args"], { encoding: "utf8" }).split("\n");
  return lines.filter((line) => line.endsWith(argument));
}

async function createContext(signal: AbortSignal): Promise<BuildContext> {
  const [bubblewrap] = await findExecutables("bwrap", process.env["PATH"] ?? "");
  if (bubblewrap === undefined) throw new Error("the tests need bubblewrap");
  return {
    directory: workspace.path,
    variables: {},
    user: process.getuid?.() === 0 ? STRANGER : null,
    wrap: createBuildSandbox({ bubblewrap, hidden: [], readable: [], writable: [workspace.path] }),
    signal,
    onLine: () => undefined,
  };
}

test("a build that is given up at any moment of its sandbox's start leaves no process", async () => {
  const mark = `34${process.pid}.5`;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const controller = new AbortController();
    const context = await createContext(controller.signal);
    const ended = runBuildCommand({ executable: "/bin/sleep", args: [mark] }, context);
    // From before its first step to after its last one.
    setTimeout(() => controller.abort(), attempt / 3);
    expect(await ended).toEqual({ code: null });
  }
  await expect.poll(() => listProcesses(mark), { timeout: 10_000 }).toEqual([]);
}, 120_000);

test("a build whose process left its group and holds its pipes ends when it is given up", async () => {
  const controller = new AbortController();
  const mark = `35${process.pid}.5`;
  const context: BuildContext = {
    ...(await createContext(controller.signal)),
    wrap: ({ executable, args }) => ({
      executable: TrustedExecutable.vouchFor(executable, "no sandbox"),
      args,
    }),
    onLine: () => controller.abort(),
  };
  const script = `setsid sleep ${mark} & echo started; wait`;
  expect(await runBuildCommand({ executable: "/bin/sh", args: ["-c", script] }, context)).toEqual({
    code: null,
  });
  await expect.poll(() => listProcesses(mark), { timeout: 10_000 }).toEqual([]);
});
