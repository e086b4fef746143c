import { isIP } from "node:net";
import type { FastifyRequest } from "fastify";
import { Problem } from "@platform/contract/problems";

/**
 * Creates a hook that refuses requests whose `Host` is not a name of this server. By DNS rebinding (a host name of an attacker that
 * resolves to 127.0.0.1), a web page could otherwise read what only this machine may: results of a local server, metrics. Such a page always sends its own host
 * name, so IP addresses are allowed.
 *
 * @param allowedHosts names besides localhost, without port
 * @param advise what to do where the name is the caller's own
 * @throws Problem FORBIDDEN (the hook)
 */
export function createHostCheck(
  allowedHosts: readonly string[],
  advise: (name: string) => string,
): (request: Pick<FastifyRequest, "headers">) => Promise<void> {
  const allowed = new Set(allowedHosts.map((host) => host.toLowerCase()));
  return async ({ headers: { host } }) => {
    if (host === undefined || isLocalName(nameOf(host)) || allowed.has(nameOf(host))) return;
    const name = nameOf(host).slice(0, 100);
    throw new Problem(
      "FORBIDDEN",
      `This server does not accept requests for the host "${name}", because a web page in your browser may have sent them. ${advise(name)}`,
    );
  };
}

/** The name in a Host header without port, and without the brackets of an IPv6 address. */
export function nameOf(host: string): string {
  const name = /^\[([^\]]*)\](?::\d+)?$/.exec(host)?.[1] ?? host.replace(/:\d+$/, "");
  return name.toLowerCase();
}

/** Whether a page of another origin cannot have it: a name that is this machine everywhere, or an address. */
export function isLocalName(name: string): boolean {
  return name === "localhost" || name.endsWith(".localhost") || isIP(name) !== 0;
}
