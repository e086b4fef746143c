import type { Usage } from "@platform/contract/platform-api/usage";

const NONE = { succeeded: 0, failed: 0, unknown: 0, notCharged: 0, cpuSeconds: 0, gbSeconds: 0 };

/** Two subscribers, one of whom has a hostile name. */
export const USAGE: Usage[] = [
  {
    ...NONE,
    key: "subscription-1",
    label: '=HYPERLINK("x","y") / shop / tsp',
    executions: 3,
    succeeded: 2,
    unknown: 1,
    notCharged: 1,
    cpuSeconds: 0.25,
    gbSeconds: 12.5,
    cost: [
      { currency: "EUR", amount: "9.9025" },
      { currency: "USD", amount: "0.000369" },
    ],
  },
  { ...NONE, key: "subscription-2", label: "Lab / planner / tsp", executions: 1, succeeded: 1, cost: [] },
];
