import { networkInterfaces } from "node:os";
import { expect, test } from "vitest";
import { createAddressPolicy } from "./outside-addresses.ts";

const isAllowed = createAddressPolicy([]);

test.each(["localhost", "2130706433", "0x7f000001", "127.1", ""])("'%s' is no address: not called", (text) =>
  expect(isAllowed(text)).toBe(false),
);

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
