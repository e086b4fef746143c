import { Progress, Text } from "@mantine/core";
import type { Subscription } from "@platform/contract/platform-api/subscriptions";
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
