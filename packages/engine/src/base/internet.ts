import { networkInterfaces } from "node:os";

/**
 * Not the internet, by IANA's registry of special-purpose addresses: private, loopback, link-local (where clouds serve metadata), carrier-grade,
 * documentation, relays of 6to4, benchmarks, multicast, reserved. And one public address: at 168.63.129.16 Azure answers its virtual machines alone.
 */
export const CLOSED_IPV4: readonly string[] = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "168.63.129.16/32",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
];

/** Global unicast addresses of IPv6; all others (loopback, unique local, link-local, multicast, discarded, segments) are closed. */
export const GLOBAL_IPV6 = "2000::/3";

/**
 * Within `GLOBAL_IPV6`: protocol assignments (Teredo among them), documentation, 6to4. An address of IPv4 in one of IPv6 is no way around: those
 * that are mapped, translated (NAT64) or compatible lie outside of it.
 */
export const CLOSED_IPV6: readonly string[] = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"];

/** The addresses of this machine, also public ones: services of it that listen on all addresses are reached there. Without zones. */
export function listOwnAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((addresses) =>
    (addresses ?? []).map(({ address }) => address.replace(/%.*$/, "")),
  );
}
