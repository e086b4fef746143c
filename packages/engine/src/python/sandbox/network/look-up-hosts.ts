import { Resolver } from "node:dns/promises";

const LOOKUP_TIMEOUT_MS = 2000;
const LOOKUP_TRIES = 2;

/** What the resolver said of one name. */
export interface Lookup {
  readonly name: string;
  /** IPv4 addresses. */
  readonly addresses: readonly string[];
  /** Why there are none: a code of c-ares such as `ENOTFOUND`, `ESERVFAIL`, `ETIMEOUT`. Null: there are some. */
  readonly code: string | null;
}

/**
 * Asks the host's resolver for the IPv4 addresses of names. A name without any does not reject: it must not keep a version from starting. Not by
 * `lookup`, which blocks a thread of Node's pool for each name: a deployer chooses the names.
 *
 * @param servers addresses of resolvers, for tests
 */
export async function lookUpHosts(
  names: readonly string[],
  servers: readonly string[] | null = null,
): Promise<readonly Lookup[]> {
  const resolver = new Resolver({ timeout: LOOKUP_TIMEOUT_MS, tries: LOOKUP_TRIES });
  if (servers !== null) resolver.setServers(servers);
  return Promise.all(names.map((name) => lookUp(name, resolver)));
}

async function lookUp(name: string, resolver: Resolver): Promise<Lookup> {
  try {
    const addresses = await resolver.resolve4(name);
    return { name, addresses, code: addresses.length === 0 ? "ENODATA" : null };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : error;
    return { name, addresses: [], code: String(code) };
  }
}
