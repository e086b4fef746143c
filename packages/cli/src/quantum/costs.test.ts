import { describe, expect, test } from "vitest";
import { describeCost, describePrice } from "./costs.ts";

const PRICE = { currency: "EUR", per_job: "0.3", per_shot: "0.00035", per_second: "0" };

describe("what is said of money", () => {
  test("a price names its parts, in full digits", () => {
    expect(describePrice({ price: PRICE })).toBe("0.3 EUR a job, 0.00035 EUR a shot");
    expect(describePrice({ price: { ...PRICE, per_job: "0", per_shot: "0" } })).toBe("none");
    expect(describePrice({ price: null })).toBe("none");
  });

  test("a cost has its currency; of a job that goes on, or is free, there is none", () => {
    expect(describeCost({ cost: "0.307", currency: "EUR" })).toBe("0.307 EUR");
    expect(describeCost({ cost: null, currency: "EUR" })).toBe("-");
    expect(describeCost({ cost: "0", currency: null })).toBe("-");
  });
});
