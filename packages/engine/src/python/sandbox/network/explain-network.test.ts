import { expect, test } from "vitest";
import { TrustedExecutable } from "../../../host/trusted-executable.ts";
import { explainNetwork } from "./explain-network.ts";
import { DEFAULT_NETWORK_POLICY } from "./network-policy.ts";

const tool = TrustedExecutable.vouchFor("/bin/true", "search path");
const egress = {
  owner: "root",
  bubblewrap: tool,
  ip: tool,
  nsenter: tool,
  prlimit: tool,
  slirp: tool,
  unshare: tool,
} as const;
const able = { policy: DEFAULT_NETWORK_POLICY, egress, fallback: "none" } as const;
const unable = { ...able, egress: null };
const strict = { ...able, policy: { standard: "none", most: "hosts", open: [] } } as const;
const LISTED = { hosts: ["example.org"] };

test.each([
  ["its own choice", able, "none", /no network: "network" in platform\.json is "none"\.$/],
  ["the default of the operator", strict, null, /no network: on this platform, .* has to ask for one\.$/],
  ["the limit of the operator", strict, "egress", /no network: this platform allows less/],
  [
    "what the machine lacks",
    unable,
    "egress",
    /no network: the worker cannot .* \/readyz say what is missing\.$/,
  ],
  [
    "its own list",
    able,
    LISTED,
    /can reach only what "network" in platform\.json lists, and private addresses only/,
  ],
] as const)("who cannot connect because of %s is told so", (_name, networks, asked, expected) => {
  expect(explainNetwork(networks, asked)).toMatch(expected);
});

test("who reaches the outside, or the host's network, is told nothing", () => {
  expect(explainNetwork(able, null)).toBe(null);
  expect(explainNetwork(able, "egress")).toBe(null);
  expect(explainNetwork({ ...unable, fallback: "host" }, LISTED)).toBe(null);
});
