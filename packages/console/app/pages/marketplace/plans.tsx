import { Group, Stack, Text, Title } from "@mantine/core";
import type { Plan } from "@platform/contract/platform-api/plans";
import { EmptyState } from "../../ui/empty-state.tsx";
import { OpenButton } from "../../ui/open-button.tsx";
import { describePriceBeside, listLimits, sortByPrice } from "../../util/plan-words.ts";
import "./marketplace.css";

/** Terms that can be subscribed to. */
export function Plans({ plans }: { readonly plans: readonly Plan[] }) {
  if (plans.length === 0)
    return (
      <EmptyState title="No plans">
        Applications of the organisation that provides a service need none; for others it has none.
      </EmptyState>
    );
  return (
    <ul className="market-cards">
      {sortByPrice(plans).map((plan) => (
        <li key={plan.id} className="market-card">
          <Title order={2} fz="md">
            {plan.name}
          </Title>
          <PlanTerms of={plan} />
          <Group mt="auto">
            <OpenButton
              op="createSubscription"
              set={{ new: "subscription", plan: plan.id }}
              size="xs"
              variant="default"
            >
              Subscribe with {plan.name}
            </OpenButton>
          </Group>
        </li>
      ))}
    </ul>
  );
}

/** What a plan costs, allows, and says of itself. */
function PlanTerms({ of: plan }: { readonly of: Plan }) {
  const limits = listLimits(plan);
  const price = describePriceBeside(plan);
  return (
    <Stack gap={4}>
      {price !== null && <Text fw={600}>{price}</Text>}
      {limits.length === 0 && (
        <Text fz="sm" c="dimmed">
          No limits but those of the platform
        </Text>
      )}
      {limits.map((line) => (
        <Text key={line} fz="sm">
          {line}
        </Text>
      ))}
      {plan.description !== "" && (
        <Text fz="sm" c="dimmed" style={{ whiteSpace: "pre-line" }}>
          {plan.description}
        </Text>
      )}
    </Stack>
  );
}
