import { expect, test } from "vitest";
import type { Network } from "@platform/contract/network";
import type { NetworkKind } from "@platform/contract/network";
import { findNetworkFault } from "./build-network.ts";

const LISTED = { hosts: ["example.org"] };
const missing = { piece: "network", why: "There is no tun device.", remedy: "Create it." } as const;

function judge(most: NetworkKind, asked: Network | null, lacks: typeof missing | null = null) {
  const lines: string[] = [];
  const policy = { standard: most === "egress" ? ("egress" as const) : ("none" as const), most, open: [] };
  return { fault: findNetworkFault({ policy, missing: lacks }, asked, (line) => lines.push(line)), lines };
}

test.each<[NetworkKind, Network, RegExp]>([
  ["hosts", "egress", /network asks for "egress".*\(PLATFORM_NETWORK_MAX\): list the hosts that it needs/],
  ["none", "egress", /network asks for "egress".*: set it to "none"\.$/],
  ["none", LISTED, /network asks for hosts.*: set it to "none"\.$/],
])("where at most %s is allowed, a project that asks for %j is not built", (most, asked, expected) => {
  expect(judge(most, asked).fault).toMatch(expected);
});

test.each<[NetworkKind, Network | null]>([
  ["none", null],
  ["none", "none"],
  ["hosts", LISTED],
  ["egress", "egress"],
])("where at most %s is allowed, a project that asks for %j is built", (most, asked) => {
  expect(judge(most, asked)).toEqual({ fault: null, lines: [] });
});

test("a project that lists addresses outside of the internet is not built, unless the operator has opened them", () => {
  const network = {
    hosts: ["10.1.2.3", "127.0.0.0/8", "localhost", "example.org", "203.0.113.7", "9.9.9.9"],
  };
  const judgeOpen = (open: readonly string[]) =>
    findNetworkFault(
      { policy: { standard: "egress", most: "egress", open }, missing: null },
      network,
      () => undefined,
    );
  expect(judgeOpen([])).toMatch(
    /addresses outside of the internet .*: 10\.1\.2\.3, 127\.0\.0\.0\/8, localhost, 203\.0\.113\.7\. .*--network-open/u,
  );
  expect(judgeOpen(["10.0.0.0/8"])).toMatch(/: 127\.0\.0\.0\/8, localhost, 203\.0\.113\.7\./u);
});

test("the log says where the machine cannot give the network that a version asks for", () => {
  const said = "The version has no network here. There is no tun device. Create it.";
  expect(judge("egress", null, missing)).toEqual({ fault: null, lines: [said] });
  expect(judge("egress", "none", missing)).toEqual({ fault: null, lines: [] });
});
