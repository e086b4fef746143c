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

/** The amount with at most so many digits behind the point, to the nearest; what is not nothing is never rounded to it. It is not negative. */
export function roundMoney({ currency, amount }: Money, digits: number): Money {
  const fraction = fractionOf(amount);
  if (fraction.length <= digits) return { currency, amount };
  const kept = amount.slice(0, amount.length - (fraction.length - digits));
  const last = `0.${"1".padStart(digits, "0")}`;
  const rounded = addDecimals((fraction.at(digits) ?? "0") < "5" ? [kept] : [kept, last]);
  return { currency, amount: rounded === "0" && /[1-9]/u.test(amount) ? last : rounded };
}

/** "0.0125 EUR + 3 USD": as it is charged; of nothing, "none". */
export function formatMoney(amounts: readonly Money[]): string {
  return amounts.length === 0
    ? "none"
    : amounts.map(({ amount, currency }) => `${amount} ${currency}`).join(" + ");
}
