import type { Plan } from "@platform/contract/platform-api/plans";
import { countOf, formatCount } from "./units.ts";

type Terms = Pick<Plan, "currency" | "monthly" | "perExecution" | "perCpuSecond">;

/** What a plan costs, in words. Amounts are shown digit by digit, as they are charged. */
export function describePrice({ currency, monthly, perExecution, perCpuSecond }: Terms): string {
  const parts = [
    [monthly, "a month"],
    [perExecution, "an execution"],
    [perCpuSecond, "a CPU-second"],
  ] as const;
  const words = parts
    .filter(([amount]) => !isZero(amount))
    .map(([amount, per]) => `${amount} ${currency ?? ""} ${per}`.replaceAll(/ {2,}/gu, " "));
  return words.length === 0 ? "Free" : words.join(" + ");
}

/** What the cheapest plan of a service costs, and whether others cost something else. */
export function describePriceFrom(prices: Terms, hasOthers: boolean): string {
  const price = describePrice(prices);
  if (!hasOthers) return price;
  return price === "Free" ? "Free, or paid plans" : `from ${price}`;
}

/** What a plan costs, beside the name of the plan: a plan called "Free" says it once. */
export function describePriceBeside(plan: Terms & Pick<Plan, "name">): string | null {
  const price = describePrice(plan);
  return price.toLowerCase() === plan.name.toLowerCase() ? null : price;
}

/**
 * The cheapest first: what is chosen for somebody must not be what costs most. Amounts of different currencies are not compared; the order is
 * that of `priceFrom` on cards.
 */
export function sortByPrice<T extends Terms & Pick<Plan, "name">>(plans: readonly T[]): readonly T[] {
  return plans.toSorted(
    (one, other) =>
      compareTexts(one.currency ?? "", other.currency ?? "") ||
      Number(one.monthly) - Number(other.monthly) ||
      Number(one.perExecution) - Number(other.perExecution) ||
      Number(one.perCpuSecond) - Number(other.perCpuSecond) ||
      one.name.localeCompare(other.name),
  );
}

function compareTexts(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

function isZero(amount: string): boolean {
  return !/[1-9]/u.test(amount);
}

/** What a plan includes, and what it allows at most: a line each. */
export function listLimits({ unit, included, limits }: Pick<Plan, "unit" | "included" | "limits">): string[] {
  const one = unit === "execution" ? "execution" : "CPU-second";
  const { perMonth, perMinute, concurrent, applications } = limits;
  return [
    ...(included > 0 ? [`${countOf(included, one)} a month included`] : []),
    ...(perMonth === null ? [] : [`At most ${countOf(perMonth, one)} a month`]),
    ...(perMinute === null ? [] : [`At most ${countOf(perMinute, "start")} a minute`]),
    ...(concurrent === null ? [] : [`At most ${countOf(concurrent, "execution")} at one time`]),
    ...(applications === null
      ? []
      : [`For at most ${applications === 1 ? "one" : formatCount(applications)} of your applications`]),
  ];
}
