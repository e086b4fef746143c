import type { FastifyRequest } from "fastify";
import { Problem } from "@platform/contract/problems";

/** Change nothing, so that nothing is kept from reading: a page of another origin does not get the answers. */
const HARMLESS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);
/** A page of the own origin, or somebody who has typed the address. */
const OWN_SITES: ReadonlySet<string> = new Set(["same-origin", "none"]);

/**
 * Refuses what would change something and was sent by a web page of another origin. A server without tokens is open to everything on this
 * machine, and a browser on it sends what any page asks for. That JSON needs a preflight, which is refused, already keeps pages away; this
 * does not depend on it. Programs send neither header.
 *
 * `Sec-Fetch-Site` decides where it is, since no page can write it, and a development server that passes requests on leaves it as it was;
 * browsers send it to loopback and by HTTPS only.
 *
 * @throws Problem FORBIDDEN
 */
export async function refuseOtherOrigins({
  method,
  headers,
}: Pick<FastifyRequest, "method" | "headers">): Promise<void> {
  if (HARMLESS.has(method)) return;
  const { origin, host } = headers;
  const site = headers["sec-fetch-site"];
  if (typeof site === "string" ? OWN_SITES.has(site) : origin === undefined || isOf(origin, host)) return;
  throw new Problem(
    "FORBIDDEN",
    `A web page of another origin (${(origin ?? "unknown").slice(0, 100)}) has sent this, and pages of others change nothing here. A page of your own calls this server by the development server that serves it.`,
  );
}

/** Whether a page of this origin came from the server itself. Without TLS, as local servers are. */
function isOf(origin: string, host: string | undefined): boolean {
  return host !== undefined && origin.toLowerCase() === `http://${host.toLowerCase()}`;
}
