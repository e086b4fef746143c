import { expect, test } from "vitest";
import { describeRetired, findCallable, isShownInMarketplace } from "./subscriptions.ts";

const URL = "https://gateway.example.org/key/tours/1.0.0/";
const of = (id: string, more: Partial<Parameters<typeof findCallable>[0][number]> = {}) => ({
  id,
  serviceKey: "tours",
  endpointUrl: URL,
  status: "ACTIVE" as const,
  versionStatus: "LIVE" as const,
  ...more,
});

test("a subscription that its provider has ended is not offered, nor one whose version is retired; one that is paused is", () => {
  const all = [
    of("active"),
    of("ended", { status: "ENDED" }),
    of("retired", { versionStatus: "RETIRED" }),
    of("paused", { status: "PAUSED" }),
    of("of another service", { serviceKey: "maps" }),
    of("without a live version", { endpointUrl: null }),
  ];
  expect(findCallable(all, "tours").map(({ id }) => id)).toEqual(["active", "paused"]);
});

const describe = (version: string | null, versionStatus: "LIVE" | "RETIRED" | null) =>
  describeRetired({ version, versionStatus });

test("what is retired is the pinned version, or all of the major number that is followed", () => {
  expect(describe("1.0.0", "RETIRED")).toBe("Version 1.0.0 is retired");
  expect(describe("1", "RETIRED")).toBe("Each version of the major number 1 is retired");
  expect([describe("1.0.0", "LIVE"), describe(null, null)]).toEqual([null, null]);
});

test("a service has a page in the marketplace while it is offered and a version is live", () => {
  const one = { isOffered: true, latestVersion: "1.0.0" };
  expect(isShownInMarketplace(one)).toBe(true);
  expect(isShownInMarketplace({ ...one, latestVersion: null })).toBe(false);
  expect(isShownInMarketplace({ ...one, isOffered: false })).toBe(false);
});
