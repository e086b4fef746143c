import { getNetworkKind, NETWORK_KINDS } from "@platform/contract/network";
import type { Network, NetworkKind } from "@platform/contract/network";

/** What the operator lets versions reach. */
export interface NetworkPolicy {
  /** The network of a version that asks for none in particular. */
  readonly standard: Exclude<NetworkKind, "hosts">;
  /** The most that a version may have. */
  readonly most: NetworkKind;
  /** Private ranges that can be reached too, such as `10.1.0.0/16`. */
  readonly open: readonly string[];
}

/** The policy of an operator who has set nothing. */
export const DEFAULT_NETWORK_POLICY: NetworkPolicy = { standard: "egress", most: "egress", open: [] };

/**
 * The network of a version: what it asks for (null: nothing in particular), as far as the policy allows that. A version that asks for more
 * than is allowed has none: it was built when more was allowed.
 */
export function decideNetwork({ standard, most }: NetworkPolicy, asked: Network | null): Network {
  const wanted = asked ?? standard;
  return isAllowed(most, wanted) ? wanted : "none";
}

/** Whether the policy allows what a version asks for; one that asks for nothing is always allowed. */
export function isNetworkAllowed({ most }: NetworkPolicy, asked: Network | null): boolean {
  return asked === null || isAllowed(most, asked);
}

function isAllowed(most: NetworkKind, wanted: Network): boolean {
  return NETWORK_KINDS.indexOf(getNetworkKind(wanted)) <= NETWORK_KINDS.indexOf(most);
}
