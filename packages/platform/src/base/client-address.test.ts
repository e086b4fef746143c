import { expect, test } from "vitest";
import { readClientAddress } from "./client-address.ts";

type Request = Parameters<typeof readClientAddress>[0];

function requestFrom(remoteAddress: string, forwarded?: string | string[]): Request {
  const headers = forwarded === undefined ? {} : { "x-forwarded-for": forwarded };
  return { socket: { remoteAddress }, headers } as unknown as Request;
}

test.each([
  ["203.0.113.7", undefined, "203.0.113.7"],
  ["::ffff:203.0.113.7", undefined, "203.0.113.7"],
  ["127.0.0.1", undefined, "127.0.0.1"],
  ["127.0.0.1", "198.51.100.1", "198.51.100.1"],
  ["::ffff:127.0.0.1", "198.51.100.1", "198.51.100.1"],
  ["::1", "2001:db8::1", "2001:db8::1"],
  // Only the last entry is the proxy's own.
  ["127.0.0.1", "10.0.0.1, 198.51.100.1", "198.51.100.1"],
  ["127.0.0.1", ["10.0.0.1", "198.51.100.1"], "198.51.100.1"],
  ["127.0.0.1", "198.51.100.1, not an address", "127.0.0.1"],
  ["127.0.0.1", "", "127.0.0.1"],
  // Whoever is not on this host may claim what they want.
  ["203.0.113.7", "198.51.100.1", "203.0.113.7"],
] as const)("a request from %s with X-Forwarded-For %j is from %s", (peer, forwarded, address) => {
  expect(
    readClientAddress(requestFrom(peer, typeof forwarded === "object" ? [...forwarded] : forwarded)),
  ).toBe(address);
});
