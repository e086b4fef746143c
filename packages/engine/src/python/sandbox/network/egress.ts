import { once } from "node:events";
import { existsSync } from "node:fs";
import { SECOND } from "../../../base/time.ts";
import { killLaunched } from "../../../host/kill-launched.ts";
import type { ChildProcess } from "../../../host/processes.ts";
import type { EgressTools } from "./egress-tools.ts";
import { holdNamespaces, NETWORK_FD, spawnWithRights } from "./namespaces.ts";
import type { HeldNamespaces } from "./namespaces.ts";
import { listChanges, listCommands } from "./network-plan.ts";
import type { NetworkPlan } from "./network-plan.ts";
import { startSlirp, waitUntilReady } from "./slirp.ts";

const SETUP_TIMEOUT_MS = 10 * SECOND;
/** Time between the end of a slirp4netns and the start of the next one. */
const RESTART_MS = 1 * SECOND;

/** The way out of one network namespace. */
export interface Egress {
  /** Enforces another plan from now on. */
  readonly update: (plan: NetworkPlan) => void;
  /** The process that connects it, at present. */
  readonly listProcesses: () => readonly number[];
  /** Ends it, at once. */
  readonly close: () => void;
}

/**
 * Connects the network namespace of a process to the outside, as far as the plan allows; resolves when it is. From then on a
 * slirp4netns that ends (user code sends it packets of any kind) is replaced after a second.
 *
 * @throws Error when the namespace cannot be connected
 */
export async function openEgress(tools: EgressTools, pid: number, first: NetworkPlan): Promise<Egress> {
  const namespaces = holdNamespaces(tools.owner, pid);
  let plan = first;
  let slirp: ChildProcess | null = null;
  let timer: NodeJS.Timeout | undefined;
  let state: "opening" | "open" | "closed" = "opening";
  const takeTurn = createTurns();

  function close(): void {
    if (state === "closed") return;
    state = "closed";
    clearTimeout(timer);
    if (slirp !== null) killLaunched(slirp);
    // Not while a program is started with these numbers, which may be those of other files a moment later.
    void takeTurn(async () => namespaces.close());
  }

  function work(step: () => Promise<void>): Promise<void> {
    return takeTurn(async () => (state === "closed" ? undefined : step()));
  }

  async function connect(): Promise<void> {
    slirp = startSlirp(tools, namespaces, plan);
    slirp.once("exit", reconnectLater);
    const commands = listCommands(plan, existsSync("/proc/net/if_inet6"));
    await runWhenReady(startSetup(tools, namespaces), slirp, commands);
  }

  function reconnectLater(): void {
    if (state !== "open") return;
    clearTimeout(timer);
    timer = setTimeout(() => void work(connect).catch(giveUp), RESTART_MS).unref();
  }

  /** What is enforced is not known: the next slirp4netns gets all of the plan. */
  function giveUp(): void {
    if (slirp !== null) killLaunched(slirp);
    reconnectLater(); // one that could not be started has no exit
  }

  async function change(next: NetworkPlan): Promise<void> {
    const commands = listChanges(plan, next);
    plan = next;
    if (commands.length > 0) await startSetup(tools, namespaces).run(commands);
  }

  try {
    await work(connect);
    state = "open";
    return {
      update: (next) => void work(() => change(next)).catch(giveUp),
      listProcesses: () => (slirp?.pid === undefined ? [] : [slirp.pid]),
      close,
    };
  } catch (error) {
    close();
    throw error;
  }
}

/** For what works in the namespaces: one thing after the other. */
function createTurns(): (step: () => Promise<void>) => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return (step) => {
    const done = last.then(step);
    last = done.catch(() => undefined);
    return done;
  };
}

/** An ip-batch(8) in the namespace, which waits for its commands. */
interface Setup {
  /** Has it execute the commands, once. @throws Error with what it said */
  readonly run: (commands: readonly string[]) => Promise<void>;
  /** Ends it; nothing is executed. */
  readonly cancel: () => void;
}

/** It was started beside slirp4netns, and waits for it: the import of the version waits for both. */
async function runWhenReady(setup: Setup, slirp: ChildProcess, commands: readonly string[]): Promise<void> {
  try {
    await waitUntilReady(slirp);
  } catch (error) {
    setup.cancel();
    throw error;
  }
  await setup.run(commands);
}

function startSetup({ nsenter, ip, ...tools }: EgressTools, namespaces: HeldNamespaces): Setup {
  const enter = [nsenter.path, `--net=/proc/self/fd/${NETWORK_FD}`, "--", ip.path, "-batch", "-"];
  const child = spawnWithRights(tools, namespaces, enter, {
    capabilities: ["SYS_ADMIN", "NET_ADMIN"],
    shows: [],
  });
  const closed = once(child, "close");
  closed.catch(() => undefined); // `run` says why it could not be started
  let said = "";
  child.stderr?.on("data", (chunk: Buffer) => (said = (said + chunk.toString()).slice(-1000)));
  child.stdin?.on("error", () => undefined);
  return {
    run: async (commands) => {
      const timer = setTimeout(() => killLaunched(child), SETUP_TIMEOUT_MS);
      child.stdin?.end(commands.map((command) => `${command}\n`).join(""));
      try {
        const [code] = (await closed) as [number | null];
        if (code !== 0)
          throw new Error(`ip could not set it up: ${said.trim().split("\n").at(-1) || "no message"}`);
      } finally {
        clearTimeout(timer);
      }
    },
    cancel: () => killLaunched(child),
  };
}
