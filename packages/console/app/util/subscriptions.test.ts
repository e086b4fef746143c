import { expect, test } from "vitest";
import { findCallable } from "./subscriptions.ts";

const URL = "https://gateway.example.org/key/tours/1.0.0/";
const of = (id: string, more: Partial<Parameters<typeof findCallable>[0][number]> = {}) => ({
  id,
  serviceKey: "tours",
  endpointUrl: URL,
  status: "ACTIVE" as const,
  ...more,
});

test("a subscription that its provider has ended is not offered, one that is paused is", () => {
  const all = [
    of("active"),
    of("ended", { status: "ENDED" }),
    of("paused", { status: "PAUSED" }),
    of("of another service", { serviceKey: "maps" }),
    of("without a live version", { endpointUrl: null }),
  ];
  expect(findCallable(all, "tours").map(({ id }) => id)).toEqual(["active", "paused"]);
});
