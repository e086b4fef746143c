import { isIP } from "node:net";
import type { FastifyRequest } from "fastify";
import { Problem } from "@platform/contract/problems";

/**
 * Refuses requests whose `Host` is a name that is not ours. A web page whose name was made to lead to 127.0.0.1 (DNS
 * rebinding) could otherwise start executions and read their results; such a page always sends its own name. Addresses
 * are let in: no name leads anywhere but where the request has gone already.
 */
export function createHostCheck(
  allowedHosts: readonly string[],
): (request: Pick<FastifyRequest, "headers">) => Promise<void> {
  const allowed = new Set(allowedHosts.map((host) => host.toLowerCase()));
  return async ({ headers: { host } }) => {
    if (host === undefined || isLocal(nameOf(host)) || allowed.has(nameOf(host))) return;
    const name = nameOf(host).slice(0, 100);
    throw new Problem(
      "FORBIDDEN",
      `This server does not answer to the name "${name}", which may be another's page in your browser. Start it with --allow-host ${name} if the name is yours.`,
    );
  };
}

/** Without port, and without the brackets of an IPv6 address. */
function nameOf(host: string): string {
  const name = /^\[([^\]]*)\](?::\d+)?$/.exec(host)?.[1] ?? host.replace(/:\d+$/, "");
  return name.toLowerCase();
}

function isLocal(name: string): boolean {
  return name === "localhost" || name.endsWith(".localhost") || isIP(name) !== 0;
}
