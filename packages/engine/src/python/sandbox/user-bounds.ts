import { getMessage } from "../../base/thrown.ts";
import { findExecutables, SYSTEM_FOLDERS } from "../../host/find-executables.ts";
import { runTrusted } from "../../host/processes.ts";
import type { TrustedExecutable } from "../../host/trusted-executable.ts";
import { tryTwice } from "../../host/try-twice.ts";
import type { TrialTimes } from "../../host/try-twice.ts";
import { SHELL_VARIABLES } from "./cgroups/join-first.ts";
import type { Command } from "./cgroups/join-first.ts";
import { PROCESS_LIMIT } from "./sandbox.ts";
import { readUserRoom } from "./user-room.ts";
import type { UserRoom } from "./user-room.ts";

/*
 * Versions that run as the user of this process share what the kernel counts for that user. Of user namespaces and processes code at import could
 * take all, and nothing of any other version would start. The kernel counts both for each user namespace as well, and for all that are made below it:
 * what is bounded in one above the sandbox holds for the whole version, whatever it does.
 */

/** Starts programs that may have a bounded part of the user's namespaces and processes, with all that they start. */
export interface UserBounds {
  /**
   * The command that becomes the given one, bounded.
   *
   * @param children of a zygote, that can exist at the same time
   * @param enter starts a program in the network of the version, and an ordinary user's in a user namespace of its own; null: there is none to enter
   */
  readonly bound: (children: number, command: readonly string[], enter: Enter | null) => Command;
}

/** The command that becomes the given one, elsewhere. */
type Enter = (command: readonly string[]) => Command;

/** Of the namespaces that a version needs without children: those of unshare and of bubblewrap, which makes two. */
const OWN_NAMESPACES = 3;
/**
 * Those of children that have ended exist for a moment longer, most of all with networks of their own: of 110 children in a second, 70 and more
 * (2 cores with a load of 10, Linux 6.18, 2026-11-22).
 */
const LINGERING_NAMESPACES = { least: 64, most: 512 };
/** Of what the user has. */
const FAIR_PART = 1 / 4;
/** The sandbox and a few executions, where the user may have very few. */
const LEAST_PROCESSES = 64;

/** Its first program has all capabilities over the namespace that it is in, and nothing of the host's: those it starts next have none. */
const AS_OWNER = ["--user", "--map-current-user", "--keep-caps", "--", "/bin/sh", "-c"];
const WRITE_LIMIT = `echo "$0" > /proc/sys/user/max_user_namespaces && unset ${SHELL_VARIABLES} && exec "$@"`;

interface Tools {
  readonly unshare: TrustedExecutable;
  readonly prlimit: TrustedExecutable;
}

/** What may be bounded of a command. */
interface Most {
  readonly namespaces: number;
  readonly processes: number;
}

/**
 * Finds what bounds a version, and tries it with an empty sandbox.
 *
 * @param readRoom what the user may have
 * @returns why it does not work, as a sentence, where it does not
 */
export async function findUserBounds(
  bubblewrap: TrustedExecutable,
  { searchPath = "", times }: { readonly searchPath?: string | undefined; readonly times: TrialTimes },
  readRoom: () => UserRoom = readUserRoom,
): Promise<UserBounds | string> {
  const folders = `${searchPath}:${SYSTEM_FOLDERS}`;
  const [[unshare], [prlimit]] = await Promise.all([
    findExecutables("unshare", folders),
    findExecutables("prlimit", folders),
  ]);
  if (!unshare || !prlimit) return `unshare or prlimit is neither on PATH nor in ${SYSTEM_FOLDERS}.`;
  const tools = { unshare, prlimit };
  try {
    const fault = await tryTwice(times, (timeout) => tryBounds(tools, bubblewrap, timeout));
    if (fault !== null) return fault;
    const room = readRoom();
    return {
      bound: (children, command, enter) => boundCommand(tools, decideMost(room, children), enter, command),
    };
  } catch (error) {
    return `They could not be bounded (${getMessage(error)}).`;
  }
}

function decideMost(room: UserRoom, children: number): Most {
  const { least, most } = LINGERING_NAMESPACES;
  const lingering = Math.max(least, Math.min(most, Math.floor(room.namespaces * FAIR_PART)));
  const processes = Math.min(Math.floor(room.processes * FAIR_PART), PROCESS_LIMIT * (1 + children));
  return {
    namespaces: OWN_NAMESPACES + children + lingering,
    processes: Math.max(LEAST_PROCESSES, processes),
  };
}

/**
 * The same for versions with users of their own, which take nothing of anybody but numbers of processes, of which the host has few (`kernel.pid_max`).
 * Null: there is no prlimit.
 */
export async function findProcessBounds(
  searchPath = "",
  readRoom = readUserRoom,
): Promise<UserBounds | null> {
  const [prlimit] = await findExecutables("prlimit", `${searchPath}:${SYSTEM_FOLDERS}`);
  if (prlimit === undefined) return null;
  const room = readRoom();
  return {
    bound: (children, command, enter) => {
      const args = limitProcesses(decideMost(room, children), command);
      return enter === null ? { executable: prlimit, args } : enter([prlimit.path, ...args]);
    },
  };
}

function limitProcesses({ processes }: Most, command: readonly string[]): readonly string[] {
  return [`--nproc=${processes}:${processes}`, "--", ...command];
}

/**
 * Two namespaces: in the upper one the number of those below it is written; of the lower one the processes are counted against the limit that is
 * set in it. What the host starts in the lower one, for its network, is not kept from starting by what the version has.
 */
function boundCommand(
  { unshare, prlimit }: Tools,
  most: Most,
  enter: Enter | null,
  command: readonly string[],
): Command {
  const limited = [prlimit.path, ...limitProcesses(most, command)];
  const plain = { executable: unshare, args: ["--user", "--map-current-user", "--", ...limited] };
  const { executable, args } = enter === null ? plain : enter(limited);
  const owner = [...AS_OWNER, WRITE_LIMIT, String(most.namespaces)];
  return { executable: unshare, args: [...owner, executable.path, ...args] };
}

/** A bound works when a sandbox starts below it, and none does where it is too low. */
async function tryBounds(
  tools: Tools,
  bubblewrap: TrustedExecutable,
  timeout: number,
): Promise<string | null> {
  const sandbox = [
    "--unshare-user",
    "--unshare-pid",
    "--ro-bind",
    "/",
    "/",
    "--proc",
    "/proc",
    "--dev",
    "/dev",
  ];
  const command = [bubblewrap.path, ...sandbox, "--", "/bin/true"];
  const attempt = (namespaces: number): Promise<string> => {
    const bounded = boundCommand(tools, { namespaces, processes: LEAST_PROCESSES }, null, command);
    return runTrusted(bounded.executable, bounded.args, { env: {}, cwd: "/", timeout });
  };
  await attempt(OWN_NAMESPACES);
  const isRefused = await attempt(1).then(
    () => false,
    () => true,
  );
  return isRefused ? null : "The kernel accepted a bound, and let a namespace be made beyond it.";
}
