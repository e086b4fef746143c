import { Outlet, getRouteApi, useRouterState } from "@tanstack/react-router";
import { createScope, ScopeProvider } from "../api/scope.tsx";

const root = getRouteApi("__root__");
const organisation = getRouteApi("/in/o/$org");

/** Above every page: the scope of those without a session, and the bar that says that a page is loading. */
export function Root() {
  const { queries } = root.useRouteContext();
  return (
    <ScopeProvider scope={createScope(queries)}>
      <ProgressBar />
      <Outlet />
    </ScopeProvider>
  );
}

/** Above every page of an organisation. */
export function OrganisationRoot() {
  const { scope } = organisation.useRouteContext();
  return (
    <ScopeProvider scope={scope}>
      <Outlet />
    </ScopeProvider>
  );
}

function ProgressBar() {
  const isLoading = useRouterState({ select: ({ isLoading: isOn }) => isOn });
  return isLoading ? <div className="progress-bar" role="progressbar" aria-label="Loading the page" /> : null;
}
