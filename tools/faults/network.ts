import { execFileSync, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { kill } from "node:process";
import { openLink } from "./link.ts";
import type { Link } from "./link.ts";

/** A way to the database, and the address that it leads to. */
export interface Way extends Link {
  readonly host: string;
}

/** Where the database is, as seen from the processes of the platform. */
export interface Network {
  /** What the database's program is started with. */
  readonly prefix: readonly string[];
  readonly listenAddresses: string;
  /** A way of its own for one process: a cable, or a proxy. */
  readonly openWay: (kind: "cable" | "proxy") => Promise<Way>;
  readonly describe: () => string;
  readonly close: () => Promise<void>;
}

/** The database listens on this machine, and all ways to it are proxies of this process. */
export function createProxyNetwork(port: number): Network {
  return {
    prefix: [],
    listenAddresses: "127.0.0.1",
    openWay: async () => ({ ...(await openLink({ host: "127.0.0.1", port })), host: "127.0.0.1" }),
    describe: () => "proxies (no network namespace)",
    close: async () => undefined,
  };
}

/** The database is in a network namespace of its own, to which cables (veth) lead. Needs root, in a namespace that nobody else is in. */
export async function createCableNetwork(port: number): Promise<Network> {
  const holder = spawn(
    "unshare",
    ["--net", "sh", "-c", "ip link set lo up && echo up && exec sleep infinity"],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  if (holder.stdout === null) throw new Error("There is no namespace.");
  await once(holder.stdout, "data");
  const enter = ["nsenter", `--net=/proc/${holder.pid}/ns/net`];
  let count = 0;
  return {
    prefix: [...enter, "setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"],
    listenAddresses: "*",
    openWay: async (kind) => {
      const cable = layCable(holder, enter, count++);
      if (kind === "proxy") return { ...(await openLink({ host: cable.host, port })), host: "127.0.0.1" };
      const set = (state: "up" | "down") => runAt([...enter, "ip", "link", "set", cable.name, state]);
      return {
        host: cable.host,
        port,
        // At the database's end: a process sees an address that is there, and does not answer.
        cut: () => set("down"),
        heal: () => set("up"),
        close: async () => undefined,
      };
    },
    describe: () => "cables of a network namespace, and proxies",
    close: async () => {
      const gone = once(holder, "exit");
      if (holder.pid !== undefined) kill(holder.pid, "SIGKILL");
      await gone;
    },
  };
}

function layCable(
  holder: ChildProcess,
  enter: readonly string[],
  number: number,
): { readonly name: string; readonly host: string } {
  const name = `cable${number}`;
  const [near, host] = [`10.123.${number}.1`, `10.123.${number}.2`];
  runAt(["ip", "link", "add", name, "type", "veth", "peer", "name", name, "netns", String(holder.pid)]);
  runAt(["ip", "address", "add", `${near}/30`, "dev", name]);
  runAt(["ip", "link", "set", name, "up"]);
  runAt([...enter, "ip", "address", "add", `${host}/30`, "dev", name]);
  runAt([...enter, "ip", "link", "set", name, "up"]);
  return { name, host };
}

function runAt([file = "", ...words]: readonly string[]): void {
  execFileSync(file, words, { stdio: "pipe" });
}
