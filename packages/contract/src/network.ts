import { Type } from "typebox";
import type { Static } from "typebox";

const OCTET = "(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])";
const RANGE = `(?:${OCTET}\\.){3}${OCTET}(?:/(?:3[0-2]|[12]?[0-9]))?`;
const LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
const NAME = `(?=.{1,253}$)(?:${LABEL}\\.)*[A-Za-z](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?`;

/** Most hosts that a project may list. */
const MAX_HOSTS = 64;

/** What the executions of a version can reach over the network. */
export const NetworkSchema = Type.Union(
  [
    Type.Literal("none"),
    Type.Literal("egress"),
    Type.Object(
      {
        hosts: Type.Array(
          Type.String({
            pattern: `^(?:${RANGE}|${NAME})$`,
            description: "a host name, or an IPv4 address or range such as 203.0.113.0/24",
          }),
          { minItems: 1, maxItems: MAX_HOSTS, description: "The only hosts that can be reached" },
        ),
      },
      { additionalProperties: false },
    ),
  ],
  {
    description:
      "What executions can reach: nothing (none), the internet but no private addresses (egress), or the listed hosts only",
  },
);

/** What the executions of a version can reach: nothing, the outside without private addresses, or the listed hosts only. */
export type Network = Static<typeof NetworkSchema>;

/** Kinds of network, each allowing more than the one before it. */
export const NETWORK_KINDS = ["none", "hosts", "egress"] as const;

/** How much a network allows; see `NETWORK_KINDS`. */
export type NetworkKind = (typeof NETWORK_KINDS)[number];

/** The kind of a network. */
export function getNetworkKind(network: Network): NetworkKind {
  return typeof network === "string" ? network : "hosts";
}
