import { MAX_PAGE_SIZE } from "@platform/contract/limits";
import type { UsageDimension, UsageSide } from "@platform/contract/platform-api/usage";
import { choosePeriod } from "../util/days.ts";
import type { Period } from "../util/days.ts";

/** What usage can be added up by. */
export type Dimension = UsageDimension;
/** Whose usage. */
export type Side = UsageSide;

/** The same in words. */
export const DIMENSION_WORDS: Readonly<Record<Dimension, string>> = {
  day: "Day",
  service: "Service",
  version: "Version",
  application: "Application",
  subscription: "Subscription",
  plan: "Plan",
};

/** The same in words. */
export const SIDE_WORDS: Readonly<Record<Side, { readonly label: string; readonly description: string }>> = {
  consumer: {
    label: "Used by us",
    description: "What the organisation's applications and jobs have used, of services of any provider.",
  },
  provider: {
    label: "Used of our services",
    description: "What subscribers have used of the organisation's services.",
  },
};

/** What the URL says. */
export interface UsageSearch extends Partial<Period> {
  readonly by?: Dimension | undefined;
  readonly side?: Side | undefined;
}

/** So many answers are read before the page is shown: all days of the longest period, and most of everything else. */
export const MOST_PAGES = 4;

/** What the platform is asked; the period is said in any case, so that the page and the answer have the same one. */
export function toUsageQuery({ by, side, ...period }: UsageSearch, now: number) {
  return {
    ...choosePeriod(period, now),
    by: by ?? "day",
    side: side ?? "consumer",
    limit: MAX_PAGE_SIZE,
  } as const;
}
