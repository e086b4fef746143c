import type { Network } from "@platform/contract/network";
import { decideNetwork } from "./network-policy.ts";
import type { Networks } from "./version-network.ts";

/**
 * What keeps the processes of a version from reaching other hosts, as a sentence for its author, who sees only that a connection failed.
 *
 * @param asked what the version asks for; null: nothing in particular
 * @returns null when it reaches all public hosts, or those of the machine
 */
export function explainNetwork({ policy, egress, fallback }: Networks, asked: Network | null): string | null {
  const network = decideNetwork(policy, asked);
  if (network === "none") return `The service has no network: ${explainNone(asked)}.`;
  if (egress === null)
    return fallback === "host"
      ? null
      : "The service has no network: the worker cannot give it one; its log and /readyz say what is missing.";
  return network === "egress"
    ? null
    : 'The service can reach only what "network" in platform.json lists, and private addresses only where the operator has opened them.';
}

function explainNone(asked: Network | null): string {
  if (asked === "none") return '"network" in platform.json is "none"';
  if (asked === null) return 'on this platform, "network" in platform.json has to ask for one';
  return 'this platform allows less than "network" in platform.json asks for';
}
