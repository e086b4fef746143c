import { expect, test } from "vitest";
import { parseRanges } from "../python/sandbox/network/address-range.ts";
import { isClosed, listCommands, planNetwork } from "../python/sandbox/network/network-plan.ts";
import { createAddressPolicy } from "../webhooks/outside-addresses.ts";

/** IANA's registry of special-purpose addresses, as far as they are not globally reachable, with multicast and Azure's metadata. */
const RANGES = [
  ["this network", "0.0.0.0/8", "0.0.0.0", "0.255.255.255"],
  ["private", "10.0.0.0/8", "10.0.0.0", "10.255.255.255"],
  ["carrier-grade", "100.64.0.0/10", "100.64.0.0", "100.127.255.255"],
  ["loopback", "127.0.0.0/8", "127.0.0.0", "127.255.255.255"],
  ["Azure's metadata", "168.63.129.16/32", "168.63.129.16", "168.63.129.16"],
  ["link-local", "169.254.0.0/16", "169.254.0.0", "169.254.255.255"],
  ["private", "172.16.0.0/12", "172.16.0.0", "172.31.255.255"],
  ["protocol assignments", "192.0.0.0/24", "192.0.0.0", "192.0.0.255"],
  ["documentation", "192.0.2.0/24", "192.0.2.0", "192.0.2.255"],
  ["relays of 6to4", "192.88.99.0/24", "192.88.99.0", "192.88.99.255"],
  ["private", "192.168.0.0/16", "192.168.0.0", "192.168.255.255"],
  ["benchmarks", "198.18.0.0/15", "198.18.0.0", "198.19.255.255"],
  ["documentation", "198.51.100.0/24", "198.51.100.0", "198.51.100.255"],
  ["documentation", "203.0.113.0/24", "203.0.113.0", "203.0.113.255"],
  ["multicast", "224.0.0.0/4", "224.0.0.0", "239.255.255.255"],
  ["reserved", "240.0.0.0/4", "240.0.0.0", "255.255.255.255"],
] as const;

const isCalled = createAddressPolicy([], []);
const isNeverReached = (address: string): boolean =>
  parseRanges([address]).every((range) => isClosed(range, []));

test.each(RANGES)("%s: %s is closed to webhooks and to versions alike", (_what, range, first, last) => {
  expect([first, last].map(isCalled)).toEqual([false, false]);
  expect([first, last].map(isNeverReached)).toEqual([true, true]);
  const commands = listCommands(planNetwork(null, []), true);
  expect(commands).toContain(`route replace unreachable ${range}`);
  expect(commands.filter((command) => command.includes(` ${range}`))).toEqual([
    `route replace unreachable ${range}`,
    expect.stringMatching(/^xfrm policy update dir out .* action block$/u),
  ]);
});

test.each([
  ["1.0.0.0", "9.255.255.255"],
  ["11.0.0.0", "100.63.255.255"],
  ["100.128.0.0", "126.255.255.255"],
  ["128.0.0.0", "168.63.129.15"],
  ["168.63.129.17", "169.253.255.255"],
  ["169.255.0.0", "172.15.255.255"],
  ["172.32.0.0", "191.255.255.255"],
  ["192.0.1.0", "192.0.1.255"],
  ["192.0.3.0", "192.88.98.255"],
  ["192.88.100.0", "192.167.255.255"],
  ["192.169.0.0", "198.17.255.255"],
  ["198.20.0.0", "198.51.99.255"],
  ["198.51.101.0", "203.0.112.255"],
  ["203.0.114.0", "223.255.255.255"],
])("what lies between closed ranges, from %s to %s, is the internet for both", (first, last) => {
  expect([first, last].map(isCalled)).toEqual([true, true]);
  expect([first, last].map(isNeverReached)).toEqual([false, false]);
});

test.each([
  ["unspecified", "::"],
  ["loopback", "::1"],
  ["compatible with IPv4", "::808:808"],
  ["mapped", "::ffff:8.8.8.8"],
  ["mapped, in hexadecimal", "::ffff:a9fe:a9fe"],
  ["translated (SIIT)", "::ffff:0:808:808"],
  ["NAT64", "64:ff9b::808:808"],
  ["local NAT64", "64:ff9b:1::a00:1"],
  ["discarded", "100::1"],
  ["below the global ones", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["Teredo", "2001:0:808:808::1"],
  ["benchmarks", "2001:2::1"],
  ["ORCHID", "2001:20::1"],
  ["last of the protocol assignments", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["documentation", "2001:db8::1"],
  ["6to4", "2002:808:808::1"],
  ["last of 6to4", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["documentation", "3fff::1"],
  ["above the global ones", "4000::1"],
  ["segments", "5f00::1"],
  ["unique local", "fc00::1"],
  ["unique local", "fdff:ffff::1"],
  ["link-local", "fe80::1"],
  ["site-local", "fec0::1"],
  ["multicast", "ff02::1"],
  ["multicast of the internet", "ff0e::1"],
])("IPv6, %s: %s is not called", (_what, address) => expect(isCalled(address)).toBe(false));

test.each(["2000::1", "2001:200::1", "2001:db9::1", "2003::1", "3ffe::1", "3fff:1000::1"])(
  "IPv6: %s is the internet",
  (address) => expect(isCalled(address)).toBe(true),
);
