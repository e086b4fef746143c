import { closeSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { getMessage } from "../../../base/thrown.ts";
import { spawnTrusted, TimeLimitError } from "../../../host/processes.ts";
import type { ChildProcess } from "../../../host/processes.ts";
import { TrustedExecutable } from "../../../host/trusted-executable.ts";
import { explainTime, TRIAL_TIMES, tryTwice } from "../../../host/try-twice.ts";
import type { TrialTimes } from "../../../host/try-twice.ts";
import type { MissingPiece } from "@platform/contract/sandbox";
import type { Cgroups, Group } from "./cgroups.ts";
import { createCgroupsV1, listFolders } from "./cgroups-v1.ts";
import { createCgroupsV2 } from "./cgroups-v2.ts";
import { delegateV2 } from "./delegate-v2.ts";
import { joinFirst } from "./join-first.ts";
import { locateGroups } from "./locate.ts";
import type { OwnGroups } from "./locate.ts";
import { hideNames, nameWorker, readStartTime } from "./names.ts";
import { sweepLeftOvers } from "./remove-groups.ts";
import type { V1Folders } from "./v1-controllers.ts";

const TRIAL_LIMITS = { memoryBytes: 64 << 20, cpus: 1, processes: 16 };
/** After the standard ones. */
const FIRST_DESCRIPTOR = 3;
const REMEDY =
  "Run the worker as root, or as a systemd service with `Delegate=yes`; in a container, /sys/fs/cgroup must be writable (Docker: --cgroupns=private with --security-opt writable-cgroups=true, or --privileged).";

/** The control groups of this worker, or why it has none and how to get them. */
type FoundCgroups =
  | { readonly cgroups: Cgroups; readonly missing: null }
  | { readonly cgroups: null; readonly missing: MissingPiece };

/**
 * The control groups that this worker can create, after a trial: a group is created, limited, joined by a process without rights, and removed.
 * Removes what dead workers left. Never rejects.
 *
 * @param uid the uid and gid that the trial joins as; null: those of this process
 */
export async function findCgroups(
  uid: number | null,
  times: TrialTimes = TRIAL_TIMES,
): Promise<FoundCgroups> {
  try {
    const own = readOwnGroups();
    if (own === null) return refuse("No control groups with memory, cpu and pids are mounted.");
    const cgroups = await openCgroups(own);
    try {
      await tryTwice(times, (timeout) => tryGroup(cgroups, uid, timeout));
    } finally {
      await cgroups.close();
    }
    return { cgroups, missing: null };
  } catch (error) {
    if (error instanceof TimeLimitError) return refuse(explainTime(error));
    const reason = hideNames(getMessage(error));
    return refuse(`No control group could be made and used (${reason}).`);
  }
}

function refuse(why: string): FoundCgroups {
  return { cgroups: null, missing: { piece: "control groups", why, remedy: REMEDY } };
}

function readOwnGroups(): OwnGroups | null {
  if (process.platform !== "linux") return null;
  return locateGroups(
    readFileSync("/proc/self/mountinfo", "latin1"),
    readFileSync("/proc/self/cgroup", "latin1"),
  );
}

async function openCgroups(own: OwnGroups): Promise<Cgroups> {
  const name = nameWorker();
  if (own.version === 2) {
    const base = delegateV2(own);
    await sweepLeftOvers(base);
    return createCgroupsV2(join(base, name));
  }
  await Promise.all(listFolders(own.folders).map(sweepLeftOvers));
  const { memory, cpu, cpuacct, pids } = own.folders;
  const folders: V1Folders = {
    memory: join(memory, name),
    cpu: join(cpu, name),
    cpuacct: join(cpuacct, name),
    pids: join(pids, name),
  };
  return createCgroupsV1(folders);
}

async function tryGroup(cgroups: Cgroups, uid: number | null, timeout: number): Promise<void> {
  const groups = ["trial", "trial-slot"].map((name) => cgroups.create(name));
  let removed: readonly boolean[] = [];
  try {
    for (const group of groups) {
      group.limit(TRIAL_LIMITS);
      group.begin();
    }
    await joinAndMove(groups, uid, timeout);
    for (const group of groups) group.measure();
  } finally {
    removed = await Promise.all(groups.map((group) => group.remove()));
  }
  if (removed.includes(false)) throw new Error("A control group could not be removed");
}

/** A process joins the first group, as a zygote does, and is moved into the second, as its children are. */
async function joinAndMove(
  [first, second]: readonly Group[],
  uid: number | null,
  timeout: number,
): Promise<void> {
  const joins = first?.openJoins() ?? [];
  try {
    const shell = TrustedExecutable.vouchFor("/bin/sh", "search path");
    const { executable, args } = joinFirst(
      { executable: shell, args: ["-c", "echo joined; read end; exit 0"] },
      FIRST_DESCRIPTOR,
      joins.length,
    );
    const child = spawnTrusted(executable, args, {
      env: {},
      cwd: "/",
      stdio: ["pipe", "pipe", "ignore", ...joins],
      ...(uid === null ? {} : { uid, gid: uid }),
    });
    const { pid = 0 } = child;
    let fault = "A process without rights could not join a control group";
    child.stdin?.on("error", () => undefined); // it has ended, and says so
    child.stdout?.once("data", () => {
      fault = "";
      second
        ?.enter({ pid, start: readStartTime(pid) ?? "" })
        .catch(
          (error: unknown) => (fault = `A process could not be moved into a control group: ${String(error)}`),
        )
        .finally(() => child.stdin?.end());
    });
    await waitForEnd(child, timeout);
    if (fault !== "") throw new Error(fault);
  } finally {
    joins.forEach(closeSync);
  }
}

/** Nothing of it is left when this rejects because of the time: its groups are removed next. */
function waitForEnd(child: ChildProcess, timeout: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      child.kill("SIGKILL");
    }, timeout);
    child.once("error", reject);
    child.once("close", () => {
      clearTimeout(timer);
      if (isLate) reject(new TimeLimitError("a process that joins control groups", timeout));
      else resolve();
    });
  });
}
