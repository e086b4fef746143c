import { expect, test } from "vitest";
import { addMoney, formatMoney, roundMoney } from "./money.ts";

const eur = (amount: string) => ({ currency: "EUR", amount });
const round = (amount: string) => roundMoney(eur(amount), 6).amount;

test("amounts are added digit by digit, each currency by itself", () => {
  expect(addMoney([eur("0.1"), eur("0.20"), { currency: "USD", amount: "7" }])).toEqual([
    eur("0.3"),
    { currency: "USD", amount: "7" },
  ]);
  expect(addMoney([eur("9007199254740993.000000000001"), eur("0.000000000009")])).toEqual([
    eur("9007199254740993.00000000001"),
  ]);
  expect(addMoney([eur("0.05"), eur("9.95")])).toEqual([eur("10")]);
  expect(addMoney([])).toEqual([]);
});

test("an amount is rounded to the nearest, and one of fewer digits stays as it is", () => {
  expect(
    [
      "1.633333333334",
      "0.0000005",
      "0.9999996",
      "0.00000049",
      "0.0000000",
      "12.5000004",
      "9007199254740993.1",
      "7",
    ].map(round),
  ).toEqual(["1.633333", "0.000001", "1", "0.000001", "0", "12.5", "9007199254740993.1", "7"]);
});

test("money is written as it is charged", () => {
  expect(formatMoney([eur("0.0125"), { currency: "USD", amount: "3" }])).toBe("0.0125 EUR + 3 USD");
  expect(formatMoney([])).toBe("none");
});
