import { expect, test } from "vitest";
import { formatRange, parseRanges } from "./address-range.ts";
import { isClosed, listChanges, listCommands, planNetwork } from "./network-plan.ts";

test("everything is closed before the device is up, and the way out is the last command", () => {
  const commands = listCommands(planNetwork(null, []), true);
  const up = commands.findIndex((command) => command.endsWith(" up"));
  expect(commands.findLastIndex((command) => command.endsWith("action block"))).toBeLessThan(up);
  expect(commands.findLastIndex((command) => command.includes("unreachable"))).toBeLessThan(up);
  expect(commands.findIndex((command) => command.startsWith("route replace 0.0.0.0/0"))).toBeGreaterThan(up);
});

test("of a list of hosts, what lies in a closed range is left out, unless the operator has opened it", () => {
  const hosts = parseRanges(["192.31.196.7", "10.1.2.3", "10.2.0.0/16", "169.254.169.254", "172.16.0.0/12"]);
  const plan = planNetwork(hosts, parseRanges(["10.1.0.0/16", "172.20.0.0/16"]));
  expect(plan.reached.map(formatRange)).toEqual(["192.31.196.7/32"]);
  expect(plan.opened.map(formatRange)).toEqual(["10.1.2.3/32", "172.20.0.0/16"]);
  expect(plan.resolves).toBe(false);
});

test("a host list of everything does not open what is closed: its policies come after", () => {
  const commands = listCommands(planNetwork(parseRanges(["0.0.0.0/0"]), []), true);
  const priority = (start: string): number =>
    Number(/priority (\d)/u.exec(commands.find((command) => command.includes(start)) ?? "")?.[1]);
  expect(priority("dst 0.0.0.0/0 priority 5 action allow")).toBeGreaterThan(priority("dst 10.0.0.0/8"));
});

const planHosts = (...hosts: readonly string[]) => planNetwork(parseRanges(hosts), []);

test("from one plan to another only what differs is changed, closed ranges first", () => {
  const before = planHosts("192.31.196.7", "192.31.196.8");
  expect(listChanges(before, planHosts("192.31.196.8", "192.31.196.7"))).toEqual([]);
  const own = [...before.own, ...parseRanges(["192.31.196.8"])];
  expect(listChanges(before, { ...planHosts("192.31.196.8", "192.31.196.9"), own })).toEqual([
    "route replace unreachable 192.31.196.8/32",
    "xfrm policy update dir out dst 192.31.196.8/32 priority 2 action block",
    "route delete 192.31.196.7/32",
    "xfrm policy delete dir out dst 192.31.196.7/32",
    "route replace 192.31.196.9/32 via 198.18.0.2 dev tap0 onlink",
    "xfrm policy update dir out dst 192.31.196.9/32 priority 5 action allow",
  ]);
});

test.each([
  ["10.1.2.3", true],
  ["127.0.0.1", true],
  ["169.254.169.254", true],
  ["172.16.0.0/12", false],
  ["172.20.1.1", false],
  ["192.31.196.7", false],
  ["0.0.0.0/0", false],
])("where 172.20.0.0/16 is open, that nothing of %s is reached is %s", (text, expected) => {
  const [range] = parseRanges([text]);
  expect(range !== undefined && isClosed(range, parseRanges(["172.20.0.0/16"]))).toBe(expected);
});

test("without IPv6 in the kernel nothing is said about it", () => {
  expect(listCommands(planNetwork(null, []), false).join()).not.toContain("addrgenmode");
});
