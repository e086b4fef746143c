import { List, Stack, Text } from "@mantine/core";
import type { QuantumEstimate } from "@platform/contract/quantum-api/price";
import { Facts } from "../ui/facts.tsx";
import { formatMoney } from "../util/money.ts";
import { formatDuration } from "../util/times.ts";
import { formatCount } from "../util/units.ts";

/** What a job would cost, and how long it would take. */
export function Estimate({ of: estimate }: { readonly of: QuantumEstimate }) {
  const { valid, warnings, seconds, cost, most_cost: most, currency, queue_position: before } = estimate;
  const isFree = currency === null;
  return (
    <Stack gap="xs">
      <Facts
        of={{
          "Would run": valid ? "yes" : "not known",
          Takes: seconds === null ? "the backend does not say" : `about ${formatDuration(seconds * 1_000)}`,
          Costs: isFree ? "nothing" : describeCost(cost, currency),
          "At most": isFree ? undefined : formatMoney([{ amount: most, currency }]),
          "Waiting before it": before === null ? undefined : describeJobs(before),
        }}
      />
      {warnings.length > 0 && (
        <section aria-label="Warnings">
          <Text fw={600} fz="sm">
            Warnings
          </Text>
          <List fz="sm" style={{ overflowWrap: "anywhere" }}>
            {[...new Set(warnings)].map((warning) => (
              <List.Item key={warning}>{warning}</List.Item>
            ))}
          </List>
        </section>
      )}
    </Stack>
  );
}

function describeCost(cost: string | null, currency: string): string {
  return cost === null ? "by how long it runs" : formatMoney([{ amount: cost, currency }]);
}

function describeJobs(count: number): string {
  return count === 1 ? "1 job" : `${formatCount(count)} jobs`;
}
