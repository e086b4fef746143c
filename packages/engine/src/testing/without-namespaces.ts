import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { RUNNER_DIRECTORY } from "../python/sandbox/runner-files.ts";
import { judgeClone } from "../python/sandbox/seccomp/judged-calls.ts";
import { assembleProgram } from "../python/sandbox/seccomp/program.ts";
import type { Rule } from "../python/sandbox/seccomp/program.ts";
import { REFUSED_CALLS } from "../python/sandbox/seccomp/refused-calls.ts";
import { findArchitecture } from "../python/sandbox/seccomp/syscalls.ts";
import type { Command } from "./as-user.ts";
import { INTERPRETER } from "./python-fixture.ts";

/** Restricts itself and becomes the command. The right is taken away for good, as by the seccomp profile of a container. */
const LAUNCHER = `
import os, sys
sys.path.insert(0, sys.argv[1])
from service_runner import kernel, seccomp
kernel.set_process_option(kernel.PR_SET_NO_NEW_PRIVS, 1)
seccomp.Filter(sys.argv[2]).install()
os.execv(sys.argv[3], sys.argv[3:])
`;

/** No filter of a sandbox, which may refuse more: what is started adds filters of its own. */
const REFUSED_IN_CONTAINERS: readonly Rule[] = [
  ...REFUSED_CALLS,
  judgeClone(null),
  { calls: ["unshare", "mount"], verdict: "EPERM" },
];

/** A command that becomes the given one, for which the kernel refuses every new namespace, and every mount: such a host has isolation level C. */
export function refuseNamespaces(command: Command): Command {
  const architecture = findArchitecture(process.arch);
  if (architecture === null) throw new Error(`There is no filter for ${process.arch}.`);
  const filter = assembleProgram(REFUSED_IN_CONTAINERS, architecture).toString("base64");
  return [INTERPRETER, "-I", "-S", "-c", LAUNCHER, RUNNER_DIRECTORY, filter, ...command];
}

/** What a program printed, once it has ended. */
export async function readOutput(child: ChildProcess): Promise<string> {
  let printed = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    printed += chunk.toString();
  });
  await once(child, "close");
  return printed;
}
