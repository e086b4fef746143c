import { Resolver } from "node:dns/promises";
import { parseRange } from "./address-range.ts";
import type { AddressRange } from "./address-range.ts";

const LOOKUP_TIMEOUT_MS = 2000;
const LOOKUP_TRIES = 2;

/** The hosts that a version may reach. */
interface ResolvedHosts {
  readonly ranges: readonly AddressRange[];
  /** Lines of a hosts file, `ADDRESS NAME`. */
  readonly lines: readonly string[];
}

/**
 * Asks the host's resolver for the IPv4 addresses of the names among hosts. A name without any cannot be reached: it must not keep the
 * version from starting. Not by `lookup`, which blocks a thread of Node's pool for each name: a deployer chooses the names.
 *
 * @param servers addresses of resolvers, for tests
 */
export async function resolveHosts(
  hosts: readonly string[],
  servers: readonly string[] | null = null,
): Promise<ResolvedHosts> {
  const resolver = new Resolver({ timeout: LOOKUP_TIMEOUT_MS, tries: LOOKUP_TRIES });
  if (servers !== null) resolver.setServers(servers);
  const found = await Promise.all(hosts.map((host) => resolveHost(host, resolver)));
  return { ranges: found.flatMap(({ ranges }) => ranges), lines: found.flatMap(({ lines }) => lines) };
}

async function resolveHost(host: string, resolver: Resolver): Promise<ResolvedHosts> {
  const range = parseRange(host);
  if (range !== null) return { ranges: [range], lines: [] };
  const addresses = await resolver.resolve4(host).catch((): readonly string[] => []);
  return {
    ranges: addresses.map(parseRange).filter((parsed) => parsed !== null),
    lines: addresses.map((address) => `${address} ${host}`),
  };
}
