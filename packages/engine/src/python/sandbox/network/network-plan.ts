import { CLOSED_IPV4, listOwnAddresses } from "../../../base/internet.ts";
import { containsRange, formatRange, parseRange, parseRanges } from "./address-range.ts";
import type { AddressRange } from "./address-range.ts";

/**
 * The addresses of a version's own network: a part of the range for benchmarks (RFC 2544), which nobody routes. Not one of
 * the private ranges, which an operator may open. The host parts are fixed by slirp4netns(1).
 */
export const NETWORK = { range: "198.18.0.0/24", gateway: "198.18.0.2", resolver: "198.18.0.3" } as const;
const ADDRESS = "198.18.0.100";
/** The device that slirp4netns creates. */
export const DEVICE = "tap0";
/** Throughput grows with it; the largest that slirp4netns accepts is 65521. */
export const MTU = 65_520;

const CLOSED = parseRanges(CLOSED_IPV4);
const EVERYTHING: AddressRange = { first: 0, bits: 0 };

/** What can be reached from a network namespace. */
export interface NetworkPlan {
  /** Where it can be reached; `opened` wins over the closed ranges, `reached` does not, and the host's own addresses win over both. */
  readonly reached: readonly AddressRange[];
  readonly opened: readonly AddressRange[];
  /** Addresses of the host's own interfaces. */
  readonly own: readonly AddressRange[];
  /** Whether names can be resolved. */
  readonly resolves: boolean;
}

/** @param hosts the only addresses to reach; null: the internet. @param open closed ranges that the operator has opened */
export function planNetwork(
  hosts: readonly AddressRange[] | null,
  open: readonly AddressRange[],
): NetworkPlan {
  const own = listOwn();
  if (hosts === null) return { reached: [EVERYTHING], opened: open, own, resolves: true };
  const opened = [
    ...hosts.filter((host) => isInside(open, host)),
    ...open.filter((range) => isInside(hosts, range)),
  ];
  const reached = hosts.filter((host) => !isInside(CLOSED, host));
  return { reached, opened, own, resolves: false };
}

/** Whether versions that may reach an address do reach it. @param open closed ranges that the operator has opened */
export function isReachable(range: AddressRange, open: readonly AddressRange[]): boolean {
  return !isInside(listOwn(), range) && (!isInside(CLOSED, range) || isInside(open, range));
}

/** Whether nothing of a range is ever reached. @param open closed ranges that the operator has opened */
export function isClosed(range: AddressRange, open: readonly AddressRange[]): boolean {
  return isInside(CLOSED, range) && !isInside(open, range) && !open.some((one) => isInside([range], one));
}

function isInside(ranges: readonly AddressRange[], range: AddressRange): boolean {
  return ranges.some((outer) => containsRange(outer, range));
}

/** Of IPv4: versions have no other. */
function listOwn(): readonly AddressRange[] {
  return listOwnAddresses()
    .map(parseRange)
    .filter((range) => range !== null);
}

/** Numbers of IANA: for names, ip(8) would need a file of the host. */
const [UDP, TCP] = [17, 6];

/** Precedence of the policies: the lowest number is matched first. */
const PRIORITY = { resolver: 1, own: 2, opened: 3, closed: 4, reached: 5, rest: 6 } as const;

/** What is done with one range. */
interface Rule {
  readonly way: "open" | "closed";
  readonly priority: number;
}

const CLOSE_IPV6 = [
  ...["in", "out"].map(
    (way) => `xfrm policy update dir ${way} src ::/0 dst ::/0 priority ${PRIORITY.own} action block`,
  ),
  `link set ${DEVICE} addrgenmode none`,
];

/** The last rule of a range counts, in routes and policies alike: the host's own addresses stay closed. */
function listRules({ own, opened, reached }: NetworkPlan): ReadonlyMap<string, Rule> {
  const list = (ranges: readonly AddressRange[], way: Rule["way"], priority: number) =>
    ranges.map((range) => [formatRange(range), { way, priority }] as const);
  return new Map([
    ...list(CLOSED, "closed", PRIORITY.closed),
    ...list(reached, "open", PRIORITY.reached),
    ...list(opened, "open", PRIORITY.opened),
    ...list(own, "closed", PRIORITY.own),
  ]);
}

/**
 * The commands of ip-batch(8) that enforce a plan in a namespace whose devices are down.
 *
 * In two ways. Routes: what is closed has no way out, so that a connection is refused at once. And policies of the kernel's
 * XFRM framework, because a socket that names its device (SO_BINDTODEVICE, IP_PKTINFO) or sends to a multicast or broadcast
 * address is not bound to routes: without them siblings could send datagrams to each other. The policy on what comes from
 * the namespace's own address closes every delivery among siblings. The sandbox has no capability over the
 * namespace, so it can change none of this. The way out comes last: until then there is none. IPv6 has no address, and policies
 * close all of it: a socket may name a sender that is no address of the namespace (IPV6_FREEBIND), and reach siblings by multicast.
 */
export function listCommands(plan: NetworkPlan, hasIpv6: boolean): readonly string[] {
  const resolver = [UDP, TCP].map(
    (protocol) =>
      `xfrm policy update dir out dst ${NETWORK.resolver}/32 proto ${protocol} dport 53 priority ${PRIORITY.resolver} action allow`,
  );
  const rules = [...listRules(plan)];
  return [
    // What an earlier plan has left, before a slirp4netns was replaced.
    "xfrm policy flush",
    "route flush table main",
    `xfrm policy update dir in src ${ADDRESS}/32 priority ${PRIORITY.own} action block`,
    `xfrm policy update dir out dst ${formatRange(EVERYTHING)} priority ${PRIORITY.rest} action block`,
    ...(hasIpv6 ? CLOSE_IPV6 : []),
    ...rules.filter(([, { way }]) => way === "closed").flatMap(write),
    `address replace ${ADDRESS}/32 dev ${DEVICE}`,
    `link set ${DEVICE} mtu ${MTU} multicast off up`,
    ...(plan.resolves ? [...resolver, `route replace ${NETWORK.resolver}/32 dev ${DEVICE} scope link`] : []),
    ...rules.filter(([, { way }]) => way === "open").flatMap(write),
  ];
}

/** The commands that make one plan of another that is enforced; none when nothing has changed. */
export function listChanges(before: NetworkPlan, after: NetworkPlan): readonly string[] {
  const [old, rules] = [listRules(before), listRules(after)];
  const gone = [...old.keys()].filter((range) => !rules.has(range));
  const changed = [...rules].filter(
    ([range, rule]) => JSON.stringify(old.get(range)) !== JSON.stringify(rule),
  );
  return [
    ...changed.filter(([, { way }]) => way === "closed").flatMap(write),
    ...gone.flatMap((range) => [`route delete ${range}`, `xfrm policy delete dir out dst ${range}`]),
    ...changed.filter(([, { way }]) => way === "open").flatMap(write),
  ];
}

function write([range, { way, priority }]: readonly [string, Rule]): readonly string[] {
  const policy = `xfrm policy update dir out dst ${range} priority ${priority} action`;
  return way === "open"
    ? [`route replace ${range} via ${NETWORK.gateway} dev ${DEVICE} onlink`, `${policy} allow`]
    : [`route replace unreachable ${range}`, `${policy} block`];
}
