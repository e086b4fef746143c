import { Paper, SimpleGrid, Text, Title } from "@mantine/core";
import type { ExecutionStatus } from "@platform/contract/execution";
import type { ExecutionCounts } from "@platform/contract/platform-api/execution-overview";
import { STATE_WORDS } from "@platform/contract/words.gen";
import { StateBadge } from "../../execution/state-badge.tsx";
import { formatCount } from "../../util/units.ts";

const STATES = Object.keys(STATE_WORDS) as readonly ExecutionStatus[];

/** Executions of the last day, by state. */
export function DayFigures({ counts: { items, total, isComplete } }: { readonly counts: ExecutionCounts }) {
  if (total === 0) return null;
  return (
    <section aria-labelledby="day">
      <Title order={2} fz="lg" mb="sm" id="day">
        Last 24 hours
      </Title>
      <SimpleGrid cols={{ base: 2, xs: 3, md: 5 }} spacing="sm">
        {STATES.map((status) => {
          const count = items.find((item) => item.status === status)?.count ?? 0;
          return (
            <Paper key={status} withBorder radius="md" px="md" py="sm">
              <Text fz={26} fw={650} lh={1.3}>
                {formatCount(count)}
                {isComplete ? "" : "+"}
              </Text>
              <StateBadge status={status} />
            </Paper>
          );
        })}
      </SimpleGrid>
    </section>
  );
}
