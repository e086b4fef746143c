import { readFile } from "node:fs/promises";
import { findFreePort } from "../platform-process.ts";

const LINUX_LOWEST = 32_768;
/** So many ports below those of outgoing connections. */
const SPAN = 16_384;
/** Ports up to this one are for root. */
const RESERVED = 1_024;
const TRIES = 50;

/**
 * A free port that no outgoing connection is given. Otherwise a connection that another process opens while this one is dead could have
 * its port, and it could not begin to listen again for as long as that lasts.
 */
export async function findLastingPort(): Promise<number> {
  const lowest = await readLowestOutgoing();
  for (let tries = 0; tries < TRIES; tries++) {
    const wanted = lowest - 1 - Math.floor(Math.random() * SPAN);
    if (wanted > RESERVED && (await findFreePort(wanted)) === wanted) return wanted;
  }
  return await findFreePort();
}

async function readLowestOutgoing(): Promise<number> {
  try {
    return Number.parseInt(await readFile("/proc/sys/net/ipv4/ip_local_port_range", "utf8"), 10);
  } catch {
    return LINUX_LOWEST;
  }
}
