import { expect, test } from "vitest";
import { addMoney, formatMoney, formatRoundedMoney } from "./money.ts";

const eur = (amount: string) => ({ currency: "EUR", amount });

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

test.each([
  ["1.633333333334", "1.63 EUR"],
  ["1.635", "1.64 EUR"],
  ["0.996", "1 EUR"],
  ["12.5000004", "12.5 EUR"],
  ["0.01", "0.01 EUR"],
  ["0.0149", "0.01 EUR"],
  ["0.009999", "< 0.01 EUR"],
  ["0.0000005", "< 0.01 EUR"],
  ["0.0000000", "0 EUR"],
  ["9007199254740993.105", "9007199254740993.11 EUR"],
  ["7", "7 EUR"],
])("for a glance, %s EUR are %s", (amount, words) => {
  expect(formatRoundedMoney([eur(amount)], 2)).toBe(words);
});

test("each currency is rounded by itself, and of nothing there is none", () => {
  expect(formatRoundedMoney([eur("1.5806"), { currency: "USD", amount: "0.0004" }], 2)).toBe(
    "1.58 EUR + < 0.01 USD",
  );
  expect(formatRoundedMoney([], 2)).toBe("none");
});

test("money is written as it is charged", () => {
  expect(formatMoney([eur("0.0125"), { currency: "USD", amount: "3" }])).toBe("0.0125 EUR + 3 USD");
  expect(formatMoney([])).toBe("none");
});
