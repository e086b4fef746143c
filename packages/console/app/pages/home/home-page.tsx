import { Stack } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { useDeferredValue, useState } from "react";
import { q, REFRESH_MS, useLoaded } from "../../api/queries.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { useNow } from "../../ui/time.tsx";
import { findLastDay } from "../../util/last-day.ts";
import { DayFigures } from "./day-figures.tsx";
import { FirstSteps } from "./first-steps.tsx";
import { LatestExecutions } from "./latest-executions.tsx";
import { NewestServices } from "./newest-services.tsx";

const route = getRouteApi("/in/o/$org/");

/** What to do next, and what has happened of late. */
export function HomePage() {
  const { slug } = useOrganisation();
  // What is decided when it opens is decided anew for the next organisation.
  return <Home key={slug} />;
}

function Home() {
  const { name, role } = useOrganisation();
  const loaded = route.useLoaderData();
  // Of a page that stays open, the day goes on; the former one is shown until the next one is there.
  const since = useDeferredValue(findLastDay(useNow()), loaded.since);
  const services = useLoaded(q("listServices", { query: { limit: 5 } }), {
    refresh: ({ items }) =>
      items.some(({ publication }) => publication !== null) ? REFRESH_MS.list : REFRESH_MS.unfinished,
  });
  const counts = useLoaded(q("countExecutions", { query: { createdAfter: since } }), {
    refresh: REFRESH_MS.list,
  });
  // Whether all steps are done is known later: where there is something to see they come behind it, so that nothing moves.
  // As they stood when the page was opened: the steps stay where they are while one is ticked.
  const [isNew] = useState(services.items.length === 0);
  return (
    <>
      <PageHeader title={name} description={`You are ${role} here.`} />
      <Stack gap="xl">
        {isNew && <FirstSteps newest={services} />}
        <DayFigures counts={counts} since={since} />
        <LatestExecutions expected={counts.total} />
        <NewestServices services={services.items} />
        {!isNew && <FirstSteps newest={services} />}
      </Stack>
    </>
  );
}
