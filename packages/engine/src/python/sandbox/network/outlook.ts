import { SECOND } from "../../../base/time.ts";
import type { Network } from "@platform/contract/network";
import { parseRange, parseRanges } from "./address-range.ts";
import type { AddressRange } from "./address-range.ts";
import { learnHosts, listKnown, listLines } from "./listed-hosts.ts";
import type { KnownNames } from "./listed-hosts.ts";
import { lookUpHosts } from "./look-up-hosts.ts";
import type { Lookup } from "./look-up-hosts.ts";
import { isReachable, planNetwork } from "./network-plan.ts";
import type { NetworkPlan } from "./network-plan.ts";

/** Time between two looks, unless another is given: names get other addresses, and so does the machine. */
const LOOK_MS = 60 * SECOND;
/** The same while a name has no address because the resolver does not answer. */
const RETRY_MS = 5 * SECOND;
/** Answers that are final: there is no such name, or it has no IPv4 address. */
const FINAL_CODES = new Set(["ENOTFOUND", "ENODATA"]);

/** What a version can reach at one time. */
export interface View {
  readonly plan: NetworkPlan;
  /** Of its hosts file, besides the usual ones. */
  readonly lines: readonly string[];
  /** Milliseconds after which to look again. */
  readonly againMs: number;
}

/** What it takes to look. */
export interface OutlookOptions {
  readonly network: Exclude<Network, "none">;
  /** Closed ranges that the operator has opened. */
  readonly open: readonly string[];
  /** Informed, in a sentence, of each name that cannot be reached, once. */
  readonly onNotice: (message: string) => void;
  /** Milliseconds between two looks. */
  readonly lookMs?: number | undefined;
}

/** Looks at what a version can reach: each call anew, with what the calls before have found. */
export function createOutlook({
  network,
  open,
  onNotice,
  lookMs = LOOK_MS,
}: OutlookOptions): () => Promise<View> {
  const opened = parseRanges(open);
  if (network === "egress")
    return async () => ({ plan: planNetwork(null, opened), lines: [], againMs: lookMs });
  const { hosts } = network;
  const fixed = hosts.map(parseRange).filter((range) => range !== null);
  const names = hosts.filter((host) => parseRange(host) === null);
  const judge = (lookup: Lookup): string | null => findFault(lookup, opened);
  let known: KnownNames = new Map();
  return async () => {
    const lookups = await lookUpHosts(names);
    const learned = learnHosts(known, lookups, judge, Date.now());
    known = learned.known;
    learned.news.forEach(onNotice);
    const isMissing = lookups.some(
      ({ name, code }) => code !== null && !FINAL_CODES.has(code) && known.get(name)?.seen.size === 0,
    );
    return {
      plan: planNetwork([...fixed, ...listKnown(known)], opened),
      lines: listLines(known),
      againMs: isMissing ? Math.min(RETRY_MS, lookMs) : lookMs,
    };
  };
}

/** Without the addresses: who answers for the name could have a line logged for each. */
function findFault({ name, addresses, code }: Lookup, opened: readonly AddressRange[]): string | null {
  if (code !== null)
    return `${name}, to which the network of this version is limited, could not be resolved (${code}); it is tried again.`;
  const isClosed = addresses.map(parseRange).some((range) => range !== null && !isReachable(range, opened));
  return isClosed
    ? `${name}, to which the network of this version is limited, resolves to a private address or one of this machine, which versions do not reach; private ranges are opened by --network-open.`
    : null;
}
