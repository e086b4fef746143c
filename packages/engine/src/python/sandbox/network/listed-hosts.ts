import { MINUTE } from "../../../base/time.ts";
import { parseRange } from "./address-range.ts";
import type { AddressRange } from "./address-range.ts";
import type { Lookup } from "./look-up-hosts.ts";

/** How long an address is reached that its name does not resolve to any more: connections may last, and programs remember it. */
export const KEEP_MS = 60 * MINUTE;
/** Of each name, the ones that came last: who answers for a name could let the list grow without end. */
export const MAX_ADDRESSES = 32;

/** What is known of the names among the hosts that a version may reach. */
export type KnownNames = ReadonlyMap<string, KnownName>;

interface KnownName {
  /** When each address was seen last, in milliseconds; the latest first. */
  readonly seen: ReadonlyMap<string, number>;
  /** What is wrong with it, as a sentence; null: nothing. */
  readonly fault: string | null;
}

/** What a look at the names has changed. */
export interface Learned {
  readonly known: KnownNames;
  /** Sentences for the log, about what was not so at the look before. */
  readonly news: readonly string[];
}

/** Adds what was found to what was known; a name that was not found keeps the addresses that it had. */
export function learnHosts(
  known: KnownNames,
  lookups: readonly Lookup[],
  judge: (lookup: Lookup) => string | null,
  now: number,
): Learned {
  const learned = lookups.map((lookup): readonly [string, KnownName] => {
    const before = known.get(lookup.name)?.seen ?? new Map<string, number>();
    return [lookup.name, { seen: remember(before, lookup.addresses, now), fault: judge(lookup) }];
  });
  const news = learned.flatMap(([name, { fault }]) =>
    fault === null || fault === known.get(name)?.fault ? [] : [fault],
  );
  return { known: new Map(learned), news };
}

function remember(
  before: ReadonlyMap<string, number>,
  found: readonly string[],
  now: number,
): ReadonlyMap<string, number> {
  if (found.length === 0) return before;
  const kept = [...before].filter(([address, time]) => !found.includes(address) && now - time < KEEP_MS);
  return new Map([...found.map((address) => [address, now] as const), ...kept].slice(0, MAX_ADDRESSES));
}

/** All addresses that are reached. */
export function listKnown(known: KnownNames): readonly AddressRange[] {
  return [...known.values()]
    .flatMap(({ seen }) => [...seen.keys()].map(parseRange))
    .filter((range) => range !== null);
}

/** Lines of a hosts file, `ADDRESS NAME`: what the names resolved to last. */
export function listLines(known: KnownNames): readonly string[] {
  return [...known].flatMap(([name, { seen }]) => {
    const latest = Math.max(...seen.values());
    return [...seen].filter(([, time]) => time === latest).map(([address]) => `${address} ${name}`);
  });
}
