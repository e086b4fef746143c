import { q, useLoaded } from "../../api/queries.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { FirstSteps } from "./first-steps.tsx";

/** What there is, and what to do next. */
export function HomePage() {
  const { name } = useOrganisation();
  const services = useLoaded(q("listServices", { query: { limit: 5 } }));
  const applications = useLoaded(q("listApplications", { query: { limit: 1 } }));
  const subscriptions = useLoaded(q("listSubscriptions", { query: { limit: 1 } }));
  return (
    <>
      <PageHeader title={name} />
      <FirstSteps
        services={services.items}
        applications={applications.items}
        subscriptions={subscriptions.items}
      />
    </>
  );
}
