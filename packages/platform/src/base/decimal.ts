import { AMOUNT_DECIMALS } from "@platform/contract/quantum-api/price";

/** Digits behind the point: nine of a price, and three of seconds. */
const SCALE = 12;

const NUMBER = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/u;

/** An exact decimal number, in units of 10^-12. */
export type Decimal = bigint;

/** Of a number its shortest text counts. Null: it is none, or has more digits behind the point. */
export function parseDecimal(given: string | number): Decimal | null {
  const [text, whole = "", fraction = "", power = "0"] = NUMBER.exec(String(given)) ?? [];
  if (text === undefined) return null;
  const digits = BigInt(whole + fraction);
  const shift = SCALE - fraction.length + Number(power);
  if (shift >= 0) return digits * 10n ** BigInt(shift);
  const divisor = 10n ** BigInt(-shift);
  return digits % divisor === 0n ? digits / divisor : null;
}

/** Without zeros at its end. */
export function formatDecimal(value: Decimal): string {
  const digits = String(value).padStart(SCALE + 1, "0");
  const fraction = digits.slice(-SCALE).replace(/0+$/u, "");
  const whole = digits.slice(0, -SCALE);
  return fraction === "" ? whole : `${whole}.${fraction}`;
}

/** A thousandth of the smallest price is what a millisecond may cost. */
const SMALLEST = 10n ** BigInt(SCALE - AMOUNT_DECIMALS);

/** An amount of money. Null: it is none, or is more exact than amounts are. */
export function parseAmount(given: string | number): Decimal | null {
  const value = parseDecimal(given);
  return value === null || value % SMALLEST !== 0n ? null : value;
}
