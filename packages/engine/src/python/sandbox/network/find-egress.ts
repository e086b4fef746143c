import { constants } from "node:fs";
import { access } from "node:fs/promises";
import type { MissingPiece } from "@platform/contract/sandbox";
import { getMessage } from "../../../base/thrown.ts";
import { findExecutables, SYSTEM_FOLDERS } from "../../../host/find-executables.ts";
import { spawnTrusted, TimeLimitError } from "../../../host/processes.ts";
import type { ChildProcess } from "../../../host/processes.ts";
import type { TrustedExecutable } from "../../../host/trusted-executable.ts";
import { explainTime, TRIAL_TIMES, tryTwice } from "../../../host/try-twice.ts";
import type { TrialTimes } from "../../../host/try-twice.ts";
import { openEgress } from "./egress.ts";
import type { EgressTools } from "./egress-tools.ts";
import { enterNetwork } from "./namespaces.ts";
import type { NamespaceOwner } from "./namespaces.ts";
import { planNetwork } from "./network-plan.ts";

const FOLDERS = `${SYSTEM_FOLDERS}:/usr/sbin:/sbin`;
const INSTALL_HINT =
  "Install the packages `slirp4netns` and `iproute2` (apt-get install slirp4netns iproute2, dnf install slirp4netns iproute).";
const KERNEL_HINT = "and the kernel must have XFRM policies (CONFIG_XFRM_USER).";
const ALLOW_HINTS: Readonly<Record<NamespaceOwner, string>> = {
  root: `The worker, as root, must have the capabilities CAP_SYS_ADMIN and CAP_NET_ADMIN and the device /dev/net/tun (Docker: --device /dev/net/tun and --cap-add for both), ${KERNEL_HINT}`,
  user: `The user of the worker must be able to make user namespaces and to open /dev/net/tun (modprobe tun; chmod 666 /dev/net/tun, which is its usual mode), ${KERNEL_HINT}`,
};

/** Finds the programs for egress and tries them on an empty namespace; what is missing when it does not work. */
export async function findEgress(
  bubblewrap: TrustedExecutable,
  searchPath: string,
): Promise<EgressTools | MissingPiece> {
  const names = ["ip", "nsenter", "prlimit", "slirp4netns", "unshare"] as const;
  const found = await Promise.all(
    names.map(async (name) => (await findExecutables(name, `${searchPath}:${FOLDERS}`))[0]),
  );
  const [ip, nsenter, prlimit, slirp, unshare] = found;
  if (!ip || !nsenter || !prlimit || !slirp || !unshare) {
    const absent = names.filter((_, at) => found[at] === undefined);
    return lack(`${absent.join(", ")}: neither on PATH nor in ${FOLDERS}.`, INSTALL_HINT);
  }
  const owner: NamespaceOwner = process.getuid?.() === 0 ? "root" : "user";
  const tools = { owner, bubblewrap, ip, nsenter, prlimit, slirp, unshare };
  const fault = await tryEgress(tools);
  return fault === null ? tools : lack(fault, ALLOW_HINTS[owner]);
}

interface EgressTrial {
  /** How long the namespace may take to be made. */
  readonly times?: TrialTimes;
  /** Ends it sooner. */
  readonly signal?: AbortSignal | undefined;
}

/** Connects an empty namespace and ends it: why that does not work, as a sentence; null when it does. */
export async function tryEgress(
  tools: EgressTools,
  { times = TRIAL_TIMES, signal }: EgressTrial = {},
): Promise<string | null> {
  try {
    await access("/dev/net/tun", constants.R_OK | constants.W_OK);
    await tryTwice(times, (timeout) => connectEmpty(tools, timeout, signal));
    return null;
  } catch (error) {
    if (error instanceof TimeLimitError) return explainTime(error);
    return `No network namespace could be connected (${getMessage(error)}).`;
  }
}

/** @throws TimeLimitError when no namespace was made in time; Error when it does not work */
async function connectEmpty(tools: EgressTools, timeout: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  const holder = spawnTrusted(tools.unshare, enterNetwork(tools.owner, { uid: 0, gid: 0 }, ["/bin/cat"]), {
    env: {},
    stdio: ["pipe", "pipe", "ignore"],
  });
  const giveUp = (): void => void holder.kill("SIGKILL");
  signal?.addEventListener("abort", giveUp);
  try {
    await waitForEcho(holder, timeout);
    (await openEgress(tools, holder.pid ?? 0, planNetwork(null, []))).close();
  } finally {
    signal?.removeEventListener("abort", giveUp);
    giveUp();
  }
}

/** What `cat` returns comes from inside: the namespace exists. */
async function waitForEcho(holder: ChildProcess, timeout: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const echo = new Promise<void>((resolve, reject) => {
    timer = setTimeout(() => reject(new TimeLimitError("unshare", timeout)), timeout);
    holder.once("error", reject);
    holder.once("close", () => reject(new Error("unshare could not make one")));
    holder.stdin?.on("error", () => undefined).write("\n");
    holder.stdout?.once("data", () => resolve());
  });
  await echo.finally(() => clearTimeout(timer));
}

function lack(why: string, remedy: string): MissingPiece {
  return { piece: "network", why, remedy };
}
