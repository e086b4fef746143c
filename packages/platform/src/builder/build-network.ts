import type { Network } from "@platform/contract/network";
import { getNetworkKind } from "@platform/contract/network";
import type { MissingPiece } from "@platform/contract/sandbox";
import { decideNetwork, isNetworkAllowed } from "@platform/engine/python/sandbox/network/network-policy";
import type { NetworkPolicy } from "@platform/engine/python/sandbox/network/network-policy";

/** What a builder knows of the network of versions. */
export interface BuildNetwork {
  readonly policy: NetworkPolicy;
  /** Why versions have no network on this machine; null: they have. */
  readonly missing: MissingPiece | null;
}

const LESS = {
  none: 'set it to "none"',
  hosts: 'list the hosts that it needs, as {"hosts": [...]}, or set it to "none"',
} as const;

/** Why a project that asks for this network cannot be deployed; null when it can. Notes in the log that this machine has none. */
export function findNetworkFault(
  { policy, missing }: BuildNetwork,
  asked: Network | null,
  onLog: (line: string) => void,
): string | null {
  if (asked !== null && policy.most !== "egress" && !isNetworkAllowed(policy, asked))
    return `platform.json: network asks for ${describe(asked)}, which this platform does not allow (PLATFORM_NETWORK_MAX): ${LESS[policy.most]}.`;
  if (missing !== null && decideNetwork(policy, asked) !== "none")
    onLog(`The version has no network here. ${missing.why} ${missing.remedy}`);
  return null;
}

function describe(network: Network): string {
  return getNetworkKind(network) === "hosts" ? "hosts" : `"${getNetworkKind(network)}"`;
}
