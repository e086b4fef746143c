import { networkInterfaces } from "node:os";
import { expect, test } from "vitest";
import { createAddressPolicy } from "./outside-addresses.ts";

const isAllowed = createAddressPolicy([]);

test.each(["8.8.8.8", "172.15.255.255", "172.32.0.0", "11.0.0.0", "2606:4700:4700::1111", "2a00:1450::1"])(
  "%s is in the internet",
  (address) => expect(isAllowed(address)).toBe(true),
);

test.each([
  ["this host", "0.0.0.0"],
  ["private", "10.1.2.3"],
  ["private", "172.16.0.1"],
  ["private", "192.168.255.255"],
  ["loopback", "127.8.9.1"],
  ["metadata", "169.254.169.254"],
  ["Azure's metadata", "168.63.129.16"],
  ["carrier-grade", "100.64.0.1"],
  ["benchmarks", "198.18.0.2"],
  ["multicast", "224.0.0.1"],
  ["broadcast", "255.255.255.255"],
  ["unspecified", "::"],
  ["loopback", "::1"],
  ["unique local", "fd00:ec2::254"],
  ["link-local", "fe80::1"],
  ["multicast", "ff02::1"],
  ["mapped", "::ffff:127.0.0.1"],
  ["mapped", "::ffff:8.8.8.8"],
  ["compatible", "::7f00:1"],
  ["NAT64", "64:ff9b::7f00:1"],
  ["local NAT64", "64:ff9b:1::a9fe:a9fe"],
  ["6to4", "2002:7f00:1::1"],
  ["Teredo", "2001:0:4136:e378::1"],
  ["documentation", "2001:db8::1"],
  ["no address", "localhost"],
  ["no address", "2130706433"],
  ["no address", ""],
])("%s: %s is not called", (_what, address) => expect(isAllowed(address)).toBe(false));

test("addresses of this machine are not called", () => {
  const own = Object.values(networkInterfaces()).flatMap((list) =>
    (list ?? []).map(({ address }) => address),
  );
  expect(own.length).toBeGreaterThan(0);
  for (const address of own) expect(isAllowed(address.replace(/%.*$/, ""))).toBe(false);
  const elsewhere = createAddressPolicy([], ["8.8.8.8", "2a00:1450::1"]);
  expect(["8.8.8.8", "2a00:1450::1", "8.8.4.4"].map(elsewhere)).toEqual([false, false, true]);
});

test("what the operator opens is called, and nothing beside it", () => {
  const opened = createAddressPolicy(["127.0.0.1", "10.1.0.0/16", "fd00::/8"]);
  expect(["127.0.0.1", "10.1.255.1", "fd12::1", "8.8.8.8"].map(opened)).toEqual([true, true, true, true]);
  expect(["127.0.0.2", "10.2.0.1", "fe80::1"].map(opened)).toEqual([false, false, false]);
});

test.each(["10.0.0.0/33", "x", "10.0.0.0/8/8", "10.0.0.0/", "10.0.0.0/-1", "fd00::/129", "10.0.0.0/1e1"])(
  "'%s' is no range",
  (range) => expect(() => createAddressPolicy([range])).toThrow(TypeError),
);
