import { spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { asUser, ORDINARY_USER } from "./as-user.ts";
import type { Command } from "./as-user.ts";
import { createVersionRunner } from "./version-runner.ts";
import type { Answer, Order, VersionRunner } from "./version-runner.ts";
import { refuseNamespaces } from "./without-namespaces.ts";

const RUN_VERSIONS = fileURLToPath(new URL("run-versions.ts", import.meta.url));
const RUN: Command = [process.execPath, RUN_VERSIONS];
/** Runs versions as some user, in a process of its own. @param resolvConf a file that is shown to it in place of /etc/resolv.conf */
async function createRunner(user: number, resolvConf = "", command = RUN): Promise<VersionRunner> {
  const [program, ...args] = asUser(user, command, resolvConf);
  const child = spawn(program, args, {
    stdio: ["pipe", "pipe", "inherit"],
    // Objects are linked into its folders: both are temporary files of one file system.
    env: { PATH: process.env["PATH"], TMPDIR: tmpdir() },
  });
  const { stdin, stdout } = child;
  const answers = createInterface(stdout)[Symbol.asyncIterator]();

  async function run(order: Order): Promise<Answer> {
    stdin.write(`${JSON.stringify(order)}\n`);
    const answer = await answers.next();
    if (answer.done === true) throw new Error("the process of the ordinary user has ended");
    return JSON.parse(answer.value) as Answer;
  }

  async function close(): Promise<void> {
    stdin.end();
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  }

  return { run, close };
}

type Runner = readonly [who: string, create: (resolvConf?: string) => Promise<VersionRunner>];

/** As whom versions are run, for tests of what holds for each: the user of this process, and where that is root, who can show them another resolver, an ordinary user too. */
export const RUNNERS: readonly Runner[] =
  process.getuid?.() === 0
    ? [
        [
          "root",
          (resolvConf) => (resolvConf === undefined ? createVersionRunner() : createRunner(0, resolvConf)),
        ],
        ["an ordinary user", (resolvConf) => createRunner(ORDINARY_USER, resolvConf)],
      ]
    : [["the user of this process", () => createVersionRunner()]];

const FEW = `
echo "$1" > /proc/sys/user/max_user_namespaces
shift
exec setpriv --ambient-caps=-all --inh-caps=-all prlimit "$@"
`;

/** Runs versions as an ordinary user who may have so many user namespaces and processes, all together. Needs root. */
export function createLimitedRunner(namespaces: number, processes: number): Promise<VersionRunner> {
  const own = ["unshare", "--user", "--map-current-user", "--keep-caps", "sh", "-e", "-c", FEW] as const;
  return createRunner(ORDINARY_USER, "", [...own, "sh", String(namespaces), `--nproc=${processes}`, ...RUN]);
}

/** Versions that are run by an ordinary user, with the namespaces that the kernel gives and, at level C, without. */
export const ORDINARY_RUNNERS: readonly Runner[] =
  process.getuid?.() === 0
    ? [
        ["with namespaces", () => createRunner(ORDINARY_USER)],
        ["without", () => createRunner(ORDINARY_USER, "", refuseNamespaces(RUN))],
      ]
    : [["at the best level", () => createVersionRunner()]];
