/** An amount of money, as a decimal number. */
export interface Money {
  readonly currency: string;
  readonly amount: string;
}

/** The sums of amounts by currency, digit by digit. */
export function addMoney(amounts: readonly Money[]): readonly Money[] {
  const currencies = [...new Set(amounts.map(({ currency }) => currency))].toSorted();
  return currencies.map((currency) => ({
    currency,
    amount: addDecimals(amounts.filter((one) => one.currency === currency).map(({ amount }) => amount)),
  }));
}

/** "0.1" and "0.20" are "0.3". None is negative. */
function addDecimals(numbers: readonly string[]): string {
  const digits = Math.max(0, ...numbers.map((number) => fractionOf(number).length));
  const sum = numbers.reduce(
    (total, number) =>
      total + BigInt(`${number.split(".")[0] ?? "0"}${fractionOf(number).padEnd(digits, "0")}`),
    0n,
  );
  const text = String(sum).padStart(digits + 1, "0");
  const fraction = text.slice(text.length - digits).replace(/0+$/u, "");
  const whole = text.slice(0, text.length - digits);
  return digits === 0 || fraction === "" ? whole : `${whole}.${fraction}`;
}

function fractionOf(number: string): string {
  return number.split(".")[1] ?? "";
}

/** "0.0125 EUR + 3 USD": as it is charged; of nothing, "none". */
export function formatMoney(amounts: readonly Money[]): string {
  return amounts.length === 0
    ? "none"
    : amounts.map(({ amount, currency }) => `${amount} ${currency}`).join(" + ");
}

/**
 * "1.58 EUR + < 0.01 USD": to the nearest, with at most so many digits behind the point, for figures that are looked at. What is less than
 * the last of these digits is not rounded: it would be nothing, or more than it is. No amount is negative.
 */
export function formatRoundedMoney(amounts: readonly Money[], digits: number): string {
  return formatMoney(
    amounts.map(({ currency, amount }) => ({ currency, amount: roundAmount(amount, digits) })),
  );
}

function roundAmount(amount: string, digits: number): string {
  const fraction = fractionOf(amount);
  if (fraction.length <= digits) return amount;
  const last = `0.${"1".padStart(digits, "0")}`;
  const kept = amount.slice(0, amount.length - (fraction.length - digits));
  if (!/[1-9]/u.test(kept)) return /[1-9]/u.test(amount) ? `< ${last}` : "0";
  return addDecimals((fraction.at(digits) ?? "0") < "5" ? [kept] : [kept, last]);
}
