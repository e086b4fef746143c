import { Progress, Text } from "@mantine/core";
import type { ReactNode } from "react";
import type { Subscription } from "@platform/contract/platform-api/subscriptions";
import { Time } from "../../ui/time.tsx";
import { formatCount } from "../../util/units.ts";

/** How much of its plan's cap a subscription has used. */
export function QuotaUse({ of: { plan, quota } }: { readonly of: Pick<Subscription, "plan" | "quota"> }) {
  if (plan === null || quota === null) return null;
  return (
    <>
      <Progress
        value={Math.min(100, (quota.used / Math.max(1, quota.limit)) * 100)}
        size="sm"
        aria-label={`Used of ${plan.name}`}
      />
      <Text fz="xs" c="dimmed">
        {formatCount(Math.round(quota.used))} of {formatCount(quota.limit)}
      </Text>
    </>
  );
}

/** Facts of a subscription: what of its plan's limits is used. */
export function describeUse(one: Subscription): Readonly<Record<string, ReactNode>> {
  const { quota, concurrency } = one;
  return {
    "Used this month":
      quota === null ? undefined : (
        <div style={{ maxWidth: 260 }}>
          <QuotaUse of={one} />
          <Text fz="xs" c="dimmed">
            begins again <Time at={quota.resetsAt} />
          </Text>
        </div>
      ),
    "Wait or run": concurrency === null ? undefined : `${concurrency.used} of ${concurrency.limit}`,
  };
}
