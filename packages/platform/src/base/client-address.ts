import { isIP, isIPv6 } from "node:net";
import type { FastifyRequest } from "fastify";

/**
 * Address of who sent a request, for limits and for people. A proxy on this host says in X-Forwarded-For whom it heard: the last
 * address is its own observation, those before it are the client's claim. From elsewhere the header is not believed.
 */
export function readClientAddress({ socket, headers }: Pick<FastifyRequest, "socket" | "headers">): string {
  const peer = stripMapping(socket.remoteAddress ?? "unknown");
  const forwarded = headers["x-forwarded-for"];
  if (!isLoopback(peer) || forwarded === undefined) return peer;
  const last = stripMapping([forwarded].flat().join(",").split(",").at(-1)?.trim() ?? "");
  return isIP(last) === 0 ? peer : last;
}

function isLoopback(address: string): boolean {
  return address === "::1" || address.startsWith("127.");
}

/** An IPv4 address on a socket that takes both looks like `::ffff:127.0.0.1`. */
function stripMapping(address: string): string {
  return address.toLowerCase().startsWith("::ffff:") && address.includes(".") ? address.slice(7) : address;
}

const IPV6_NETWORK_PARTS = 4;

/** What limits count for an address: a client has a whole network of IPv6 addresses (/64) to choose from. */
export function nameNetwork(ip: string): string {
  return isIPv6(ip) && !ip.includes(".") ? networkOf(ip) : ip;
}

function networkOf(ip: string): string {
  const [head = "", tail] = (ip.split("%")[0] ?? ip).split("::");
  const front = head === "" ? [] : head.split(":");
  const back = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? 0 : 8 - front.length - back.length;
  const parts = [...front, ...Array.from({ length: zeros }, () => "0"), ...back];
  return parts.slice(0, IPV6_NETWORK_PARTS).join(":");
}
