import { expect, test } from "vitest";
import type { Network, NetworkKind } from "@platform/contract/network";
import { decideNetwork, DEFAULT_NETWORK_POLICY, isNetworkAllowed } from "./network-policy.ts";

const HOSTS = { hosts: ["example.org"] };

test.each<[most: NetworkKind, asked: Network | null, given: Network]>([
  ["egress", "egress", "egress"],
  ["egress", HOSTS, HOSTS],
  ["egress", null, "egress"],
  ["hosts", HOSTS, HOSTS],
  ["hosts", "egress", "none"],
  ["hosts", null, "none"],
  ["none", HOSTS, "none"],
  ["none", "none", "none"],
])("where %s is the most, a version that asks for %j gets %j", (most, asked, given) => {
  const policy = { ...DEFAULT_NETWORK_POLICY, most };
  expect(decideNetwork(policy, asked)).toEqual(given);
  expect(isNetworkAllowed(policy, asked)).toBe(asked === null || asked === given);
});

test("a version that does not say gets what the operator has set", () => {
  expect(decideNetwork({ ...DEFAULT_NETWORK_POLICY, standard: "none" }, null)).toBe("none");
});
