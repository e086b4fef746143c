import { BlockList, isIP, isIPv6 } from "node:net";
import { networkInterfaces } from "node:os";

/**
 * Not the internet, by IANA's registries of special-purpose addresses: private, loopback, link-local (where clouds serve metadata), carrier-grade,
 * documentation, benchmarks, multicast, reserved. And one public address: at 168.63.129.16 Azure answers its virtual machines alone.
 */
const CLOSED = [
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
/** Global unicast addresses; all others are closed. */
const GLOBAL_V6 = "2000::/3";
/**
 * Within them: protocol assignments (Teredo among them), documentation, 6to4. An address of IPv4 in one of IPv6 is no way around: those that are
 * mapped, translated (NAT64) or compatible lie outside `GLOBAL_V6`.
 */
const CLOSED_V6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"];

/** Whether a host may be called at this address, of IPv4 or IPv6. */
export type AddressPolicy = (address: string) => boolean;

/**
 * The internet without this machine, and the ranges that the operator has opened (`10.1.0.0/16`, `fd00::/8`, single addresses).
 *
 * @param own addresses of this machine
 * @throws TypeError for a text that is no range
 */
export function createAddressPolicy(
  opened: readonly string[],
  own: readonly string[] = listOwnAddresses(),
): AddressPolicy {
  const open = createList(opened);
  const closed = createList([...CLOSED, ...CLOSED_V6, ...own]);
  const global = createList([GLOBAL_V6]);
  return (address) => {
    const family = isIP(address);
    if (family === 0) return false;
    const kind = family === 4 ? "ipv4" : "ipv6";
    if (open.check(address, kind)) return true;
    return !closed.check(address, kind) && (family === 4 || global.check(address, kind));
  };
}

function createList(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = "", bits, ...rest] = range.split("/");
    const most = isIPv6(address) ? 128 : 32;
    const prefix = bits === undefined ? most : Number(bits);
    const isWhole = /^\d{1,3}$/.test(bits ?? "0") && prefix <= most;
    if (isIP(address) === 0 || !isWhole || rest.length > 0)
      throw new TypeError(`'${range}' is no address or range, such as 10.1.0.0/16 or fd00::/8`);
    list.addSubnet(address, prefix, most === 128 ? "ipv6" : "ipv4");
  }
  return list;
}

/** Also public ones: services of this machine that listen on all addresses are reached there. */
function listOwnAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((addresses) =>
    (addresses ?? []).map(({ address }) => address.replace(/%.*$/, "")),
  );
}
