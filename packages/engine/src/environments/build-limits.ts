import { totalmem } from "node:os";
import { GIGABYTE } from "../base/bytes.ts";
import type { BuildCommand } from "./build-command.ts";
import type { Interpreter } from "./interpreter.ts";

/** What the programs of one build may use. */
export interface BuildLimits {
  /** Bytes of private memory of one process, and of all processes of a build together. */
  readonly memoryBytes: number;
  /** Processes and threads. */
  readonly processes: number;
  /** Bytes of one file. */
  readonly fileBytes: number;
}

/** Compilers of large packages need about 2 GB; a build must not take more than half of a small machine. */
export const DEFAULT_BUILD_LIMITS: BuildLimits = {
  memoryBytes: Math.min(4 * GIGABYTE, Math.floor(totalmem() / 2)),
  processes: 256,
  fileBytes: 10 * GIGABYTE,
};

const OPEN_FILES = 4096;

/**
 * Sets limits, then becomes the command. Processes are counted for each user namespace (since Linux 5.14), so those of other builds do not
 * count. The kernel, when it is out of memory, ends a build before anything else. With a core limit of 1 it starts no program of the host for a
 * crash, as it does with 0 (kernel.core_pattern).
 *
 * Not where nobody reads what it prints: Node was killed before bubblewrap had set its parent-death signal (some 15 ms), and nothing else would
 * end it.
 */
const LAUNCHER = `
import os, resource, select, sys
reader = select.poll()
reader.register(1, 0)
if reader.poll(0):
    os._exit(126)
memory, processes, size, files = map(int, sys.argv[1:5])
for kind, most in (
    (resource.RLIMIT_CORE, 1),
    (resource.RLIMIT_DATA, memory),
    (resource.RLIMIT_NPROC, processes),
    (resource.RLIMIT_FSIZE, size),
    (resource.RLIMIT_NOFILE, files),
):
    _, hard = resource.getrlimit(kind)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (most, most))
with open("/proc/self/oom_score_adj", "w") as file:
    file.write("1000")
os.execv(sys.argv[5], sys.argv[5:])
`;

/** The same command, under limits that neither it nor its children can raise. The installation's own interpreter sets them. */
export function limitCommand(
  { executable }: Interpreter,
  { memoryBytes, processes, fileBytes }: BuildLimits,
  command: BuildCommand,
): BuildCommand {
  const limits = [memoryBytes, processes, fileBytes, OPEN_FILES].map(String);
  return {
    executable: executable.path,
    args: ["-I", "-S", "-c", LAUNCHER, ...limits, command.executable, ...command.args],
  };
}
