import type { Network } from "@platform/contract/network";
import { getNetworkKind } from "@platform/contract/network";
import type { MissingPiece } from "@platform/contract/sandbox";
import { parseRange, parseRanges } from "@platform/engine/python/sandbox/network/address-range";
import { isClosed } from "@platform/engine/python/sandbox/network/network-plan";
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
  const closed = getHosts(asked).filter((host) => isNeverReached(host, policy));
  if (closed.length > 0)
    return `platform.json: network.hosts names addresses outside of the internet (private, reserved, for documentation), which versions on this platform do not reach: ${closed.join(", ")}. Remove them, or ask its operator to open them (--network-open).`;
  if (missing !== null && decideNetwork(policy, asked) !== "none")
    onLog(`The version has no network here. ${missing.why} ${missing.remedy}`);
  return null;
}

function getHosts(network: Network | null): readonly string[] {
  return network !== null && typeof network === "object" ? network.hosts : [];
}

/** What a name resolves to is known only where the version runs; it is logged there. */
function isNeverReached(host: string, { open }: NetworkPolicy): boolean {
  const range = parseRange(host);
  return range === null ? host.toLowerCase() === "localhost" : isClosed(range, parseRanges(open));
}

function describe(network: Network): string {
  return getNetworkKind(network) === "hosts" ? "hosts" : `"${getNetworkKind(network)}"`;
}
