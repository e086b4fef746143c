import { SimpleGrid, Text, Title } from "@mantine/core";
import { MAX_PAGE_SIZE } from "@platform/contract/limits";
import type { ExecutionCounts } from "@platform/contract/platform-api/execution-overview";
import type { AnswerOf } from "../../api/client.ts";
import { q, REFRESH_MS, useFetched } from "../../api/queries.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { StateBadge } from "../../execution/state-badge.tsx";
import { EXECUTION_STATES } from "../../execution/states.ts";
import { AppLink } from "../../ui/link.tsx";
import { findPercentile } from "../../util/percentile.ts";
import { formatDuration } from "../../util/times.ts";
import { formatCount } from "../../util/units.ts";
import "./day-figures.css";

interface DayFiguresProps {
  readonly counts: ExecutionCounts;
  /** From when on they are counted, as on the wire. */
  readonly since: string;
}

/** Executions of the last day, by state, and how long those took that succeeded. */
export function DayFigures({ counts: { items, total, isComplete }, since }: DayFiguresProps) {
  const { slug: org } = useOrganisation();
  if (total === 0) return null;
  return (
    <section aria-labelledby="day">
      <Title order={2} fz="lg" mb="sm" id="day">
        Last 24 hours
      </Title>
      <SimpleGrid cols={{ base: 2, xs: 3, md: 5 }} spacing="sm">
        {EXECUTION_STATES.map(({ status }) => (
          <AppLink
            key={status}
            to="/o/$org/executions"
            params={{ org }}
            search={{ status: [status], after: since }}
            className="figure"
            underline="never"
          >
            <span className="figure-number">
              {formatCount(items.find((item) => item.status === status)?.count ?? 0)}
              {isComplete ? "" : "+"}
            </span>{" "}
            <StateBadge status={status} />
          </AppLink>
        ))}
      </SimpleGrid>
      {items.some(({ status }) => status === "SUCCEEDED") && <Durations since={since} />}
    </section>
  );
}

/** Of one page of the list: percentiles of more would cost more than they tell. */
function Durations({ since }: { readonly since: string }) {
  const { data } = useFetched(
    q("listExecutions", { query: { status: ["SUCCEEDED"], createdAfter: since, limit: MAX_PAGE_SIZE } }),
    { refresh: REFRESH_MS.list },
  );
  return (
    // Its place is there before it is.
    <Text fz="sm" c="dimmed" className="durations">
      {data !== undefined && describe(data)}
    </Text>
  );
}

/** The median, and what all but the slowest twentieth took at most. */
function describe({ items, nextCursor }: AnswerOf<"listExecutions">): string {
  const [ran, waited] = [
    items.flatMap(({ ranMs }) => (ranMs === undefined ? [] : [ranMs])),
    items.map(({ waitedMs }) => waitedMs),
  ].map((values) => {
    const [half, most] = [0.5, 0.95].map((share) => formatDuration(findPercentile(values, share) ?? 0));
    return `${half} (95 %: ${most})`;
  });
  const which = nextCursor === null ? "succeeded" : `succeeded, the newest ${MAX_PAGE_SIZE}`;
  return `Half of those that ${which} ran for at most ${ran} and waited for at most ${waited}.`;
}
