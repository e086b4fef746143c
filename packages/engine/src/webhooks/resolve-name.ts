import { Resolver } from "node:dns/promises";
import { SECOND } from "../base/time.ts";

/** Of one question to one server, and how often each is asked. */
const TIMEOUT_MS = 2 * SECOND;
const TRIES = 2;

/** The addresses of a host, of IPv4 first. Rejects with an error of `node:dns` where there are none. */
export type ResolveName = (name: string) => Promise<readonly string[]>;

/**
 * Asks the name servers of the system, without its hosts file: getaddrinfo would wait in one of the few threads that all files of this process are
 * read and written by, for as long as a hostile name server likes.
 */
export async function resolveName(name: string): Promise<readonly string[]> {
  // RFC 6761, section 6.3.
  if (/(^|\.)localhost\.?$/i.test(name)) return ["127.0.0.1", "::1"];
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  if (v4.status === "rejected" && v6.status === "rejected") throw v4.reason;
  return [v4, v6].flatMap((found) => (found.status === "fulfilled" ? found.value : []));
}
