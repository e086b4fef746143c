import { closeSync, constants, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Network } from "@platform/contract/network";
import { getMessage } from "../../../base/thrown.ts";
import type { TrustedExecutable } from "../../../host/trusted-executable.ts";
import { openEgress } from "./egress.ts";
import type { EgressTools } from "./egress-tools.ts";
import type { Egress } from "./egress.ts";
import { followOutlook } from "./follow-outlook.ts";
import { printHosts, rewriteHosts } from "./hosts-file.ts";
import { enterNetwork } from "./namespaces.ts";
import { decideNetwork } from "./network-policy.ts";
import type { NetworkPolicy } from "./network-policy.ts";
import { NETWORK } from "./network-plan.ts";
import { createOutlook } from "./outlook.ts";
import type { View } from "./outlook.ts";

/** The networks that a machine can give versions. */
export interface Networks {
  readonly policy: NetworkPolicy;
  /** Null: this machine cannot give a version a way out of its own; it then gets `fallback`. */
  readonly egress: EgressTools | null;
  /** `host` only where all code is trusted. */
  readonly fallback: "none" | "host";
  /** Milliseconds between two looks at what can be reached; missing: a minute. */
  readonly lookMs?: number | undefined;
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
  readonly connect: (pid: number) => Promise<ConnectedNetwork>;
}

/** A way out that is kept as it should be. */
export type ConnectedNetwork = Pick<Egress, "listProcesses" | "close">;

const HOSTS = "hosts";

/** What the network of a version is prepared for. */
export interface NetworkRequest {
  /** What the version asks for. */
  readonly network: Network | null;
  /** The folder for the files `resolv.conf` and `hosts` that it sees; it exists. */
  readonly folder: string;
  /** Informed, in sentences, of hosts that cannot be reached. */
  readonly onNotice: (message: string) => void;
}

/** Decides the network of a version, resolves the hosts that it may reach, and writes the files that it sees. */
export async function prepareNetwork(
  { policy, egress, fallback, lookMs }: Networks,
  { network: asked, folder, onNotice }: NetworkRequest,
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
  const look = createOutlook({ network, open: policy.open, onNotice, lookMs });
  const first = await look();
  const resolver = first.plan.resolves ? `nameserver ${NETWORK.resolver}\n` : "";
  return {
    bubblewrapArguments: bindFiles(folder, resolver, first.lines),
    children: "shared",
    own: {
      launcher: egress.unshare,
      enter: (user, command) => enterNetwork(egress.owner, user, command),
      connect: (pid) => connect({ egress, pid, first, look, file: join(folder, HOSTS), onNotice }),
    },
  };
}

interface Connecting {
  readonly egress: EgressTools;
  readonly pid: number;
  readonly first: View;
  readonly look: () => Promise<View>;
  /** The hosts file. */
  readonly file: string;
  readonly onNotice: (message: string) => void;
}

/** From then on the network and the file are kept as they should be. */
async function connect({ egress, pid, first, look, file, onNotice }: Connecting): Promise<ConnectedNetwork> {
  // The version sees this file, not this path: it is written in place.
  const hosts = openSync(file, constants.O_WRONLY | constants.O_NOFOLLOW);
  const way = await openEgress(egress, pid, first.plan).catch((error: unknown) => {
    closeSync(hosts);
    throw error;
  });
  const following = followOutlook(first, {
    look,
    onView: ({ plan, lines }) => {
      way.update(plan);
      rewriteHosts(hosts, lines, onNotice);
    },
    onFault: (error) =>
      onNotice(`What this version may reach was not looked at (${getMessage(error)}); it is tried again.`),
  });
  return {
    listProcesses: way.listProcesses,
    close: () => {
      following.close();
      closeSync(hosts);
      way.close();
    },
  };
}

/** In place of the host's, which name its resolver, its domain and its neighbours. */
function bindFiles(folder: string, resolver: string, lines: readonly string[]): readonly string[] {
  const texts = { "resolv.conf": resolver, [HOSTS]: printHosts(lines) };
  return Object.entries(texts).flatMap(([name, text]) => {
    writeFileSync(join(folder, name), text, { mode: 0o644 });
    return ["--ro-bind", join(folder, name), `/etc/${name}`];
  });
}
