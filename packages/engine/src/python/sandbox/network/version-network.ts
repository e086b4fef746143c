import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Network } from "@platform/contract/network";
import type { TrustedExecutable } from "../../../host/trusted-executable.ts";
import { parseRanges } from "./address-range.ts";
import { openEgress } from "./egress.ts";
import type { Egress, EgressTools } from "./egress.ts";
import { enterNetwork } from "./namespaces.ts";
import { decideNetwork } from "./network-policy.ts";
import type { NetworkPolicy } from "./network-policy.ts";
import { NETWORK, planNetwork } from "./network-plan.ts";
import { resolveHosts } from "./resolve-hosts.ts";

/** The networks that a machine can give versions. */
export interface Networks {
  readonly policy: NetworkPolicy;
  /** Null: this machine cannot give a version a way out of its own; it then gets `fallback`. */
  readonly egress: EgressTools | null;
  /** `host` only where all code is trusted. */
  readonly fallback: "none" | "host";
}

/** How bubblewrap gives the processes of one version their network. */
interface VersionNetwork {
  readonly bubblewrapArguments: readonly string[];
  /** `own`: each execution gets a namespace without any way out; `shared`: all of them use that of the sandbox. */
  readonly children: "own" | "shared";
  /** Set when the program must be started in a namespace that has to be connected; the launcher then changes to the user itself. */
  readonly own: OwnNetwork | null;
}

/** A network namespace with a way out. */
interface OwnNetwork {
  readonly launcher: TrustedExecutable;
  /** The launcher's arguments, which start the command as this user. */
  readonly enter: (
    user: { readonly uid: number; readonly gid: number },
    command: readonly string[],
  ) => readonly string[];
  /** Connects the namespace of the process that was launched. */
  readonly connect: (pid: number) => Promise<Egress>;
}

const LOCAL_HOSTS = ["127.0.0.1 localhost service", "::1 localhost"];

/**
 * Decides the network of a version, resolves the hosts that it may reach, and writes the files `resolv.conf` and `hosts` that it sees
 * into the folder, which exists.
 */
export async function prepareNetwork(
  { policy, egress, fallback }: Networks,
  asked: Network | null,
  folder: string,
): Promise<VersionNetwork> {
  const network = decideNetwork(policy, asked);
  if (network === "none" || (egress === null && fallback === "none"))
    return {
      bubblewrapArguments: ["--unshare-net", ...bindFiles(folder, "", [])],
      children: "own",
      own: null,
    };
  if (egress === null)
    return {
      bubblewrapArguments: [],
      children: "shared",
      own: null,
    };
  const hosts = network === "egress" ? null : await resolveHosts(network.hosts);
  const plan = planNetwork(hosts?.ranges ?? null, parseRanges(policy.open));
  const resolver = plan.resolves ? `nameserver ${NETWORK.resolver}\n` : "";
  return {
    bubblewrapArguments: bindFiles(folder, resolver, hosts?.lines ?? []),
    children: "shared",
    own: {
      launcher: egress.unshare,
      enter: (user, command) => enterNetwork(egress.owner, user, command),
      connect: (pid) => openEgress(egress, pid, plan),
    },
  };
}

/** In place of the host's, which name its resolver, its domain and its neighbours. */
function bindFiles(folder: string, resolver: string, hosts: readonly string[]): readonly string[] {
  const texts = { "resolv.conf": resolver, hosts: [...LOCAL_HOSTS, ...hosts, ""].join("\n") };
  return Object.entries(texts).flatMap(([name, text]) => {
    writeFileSync(join(folder, name), text, { mode: 0o644 });
    return ["--ro-bind", join(folder, name), `/etc/${name}`];
  });
}
