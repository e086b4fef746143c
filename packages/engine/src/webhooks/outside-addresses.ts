import { BlockList, isIP, isIPv6 } from "node:net";
import { CLOSED_IPV4, CLOSED_IPV6, GLOBAL_IPV6, listOwnAddresses } from "../base/internet.ts";

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
  const closed = createList([...CLOSED_IPV4, ...CLOSED_IPV6, ...own]);
  const global = createList([GLOBAL_IPV6]);
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
