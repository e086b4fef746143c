import { Alert, Tabs, Text } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { useDeferredValue, useMemo } from "react";
import { pages, REFRESH_MS, useLoadedPages } from "../../api/queries.ts";
import { CopyAs } from "../../ui/copy-as.tsx";
import { useSetSearch } from "../../ui/dialog.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { useNow } from "../../ui/time.tsx";
import { SIDE_WORDS, toUsageQuery } from "../../usage/query.ts";
import type { Side } from "../../usage/query.ts";
import { explainPeriod } from "../../util/days.ts";
import { NothingUsed } from "./nothing-used.tsx";
import { PeriodBar } from "./period-bar.tsx";
import { SaveUsage } from "./save-usage.tsx";
import { UsageCharts } from "./usage-charts.tsx";
import { UsageFigures } from "./usage-figures.tsx";
import { UsageTable } from "./usage-table.tsx";

const route = getRouteApi("/in/o/$org/usage");

type Asked = ReturnType<typeof toUsageQuery>;

/** What the organisation has used, or others of its services, and what it costs. */
export function UsagePage() {
  const asked = useAsked();
  const setSearch = useSetSearch();
  const fault = explainPeriod(asked);
  const { from, to, by, side } = asked;
  const sides = Object.entries(SIDE_WORDS);
  return (
    <>
      <PageHeader
        title="Usage"
        description="An execution counts on the day on which it was started (UTC), once it has ended. There is no payment provider: costs are computed from the plans."
        actions={
          <>
            <SaveUsage asked={asked} />
            <CopyAs
              op="getUsage"
              request={{ query: asked }}
              command={`platform usage --side ${side} --by ${by} --from ${from} --to ${to}`}
            />
          </>
        }
      />
      <Tabs
        value={side}
        onChange={(value) => setSearch({ side: value === "consumer" ? undefined : value }, "push")}
        keepMounted={false}
      >
        <Tabs.List aria-label="Whose usage" mb="md">
          {sides.map(([value, { label }]) => (
            <Tabs.Tab key={value} value={value}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {sides.map(([value, { description }]) => (
          <Tabs.Panel key={value} value={value}>
            <Text c="dimmed" mb="md">
              {description}
            </Text>
            <PeriodBar period={asked} by={by} />
            {fault === null ? (
              value === side && <Lines asked={asked} side={side} />
            ) : (
              <Alert color="red" variant="light" title="These days cannot be added up" role="alert">
                {fault}
              </Alert>
            )}
          </Tabs.Panel>
        ))}
      </Tabs>
    </>
  );
}

/** Of a page that stays open, the days go on; the former ones are shown until the next ones are there. */
function useAsked(): Asked {
  const { from, to, by, side, limit } = toUsageQuery(route.useSearch(), useNow());
  const asked = useMemo(() => ({ from, to, by, side, limit }), [from, to, by, side, limit]);
  return useDeferredValue(asked, route.useLoaderDeps());
}

/** What was read of the period. */
function Lines({ asked, side }: { readonly asked: Asked; readonly side: Side }) {
  const usage = useLoadedPages(pages("getUsage", { query: asked }), { refresh: REFRESH_MS.list });
  if (usage.items.length === 0) return <NothingUsed period={asked} side={side} />;
  return (
    <>
      <UsageFigures lines={usage.items} isWhole={!usage.hasMore} />
      <UsageCharts lines={usage.items} by={asked.by} period={asked} />
      <UsageTable usage={usage} by={asked.by} side={side} />
    </>
  );
}
