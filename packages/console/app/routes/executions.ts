import { createRoute, notFound, redirect } from "@tanstack/react-router";
import { isNotFound } from "../api/explain-error.ts";
import { pages, q } from "../api/queries.ts";
import type { Scope } from "../api/scope.tsx";
import { executionsSearch, toFilter } from "../execution/filter.ts";
import { oneOf, search, text } from "../util/url-state.ts";
import { lazyPage } from "./lazy-page.ts";
import { organisation, signedIn } from "./root.ts";

const executionSearch = search({
  tab: oneOf("result", "input", "files", "log", "facts"),
  open: oneOf("replay"),
});
const compareSearch = search({ a: text(), b: text() });

const executions = createRoute({
  getParentRoute: () => organisation,
  path: "executions",
  validateSearch: executionsSearch,
  loaderDeps: ({ search: given }) => toFilter(given),
  // The numbers of the histogram are not waited for: counting may take longer than the list.
  loader: ({ context: { load }, deps }) => load(pages("listExecutions", { query: deps })),
  component: lazyPage(() => import("../pages/executions/executions-page.tsx"), "ExecutionsPage"),
});

const execution = createRoute({
  getParentRoute: () => organisation,
  path: "executions/$id",
  validateSearch: executionSearch,
  loader: ({ context: { load }, params }) => load(q("getExecution", { params: { id: params.id } })),
  component: lazyPage(() => import("../pages/executions/execution-page.tsx"), "ExecutionPage"),
});

const compare = createRoute({
  getParentRoute: () => organisation,
  path: "executions/compare",
  validateSearch: compareSearch,
  loaderDeps: ({ search: { a, b } }) => ({ ids: [a, b].filter((id) => id !== undefined) }),
  loader: ({ context: { load }, deps: { ids } }) =>
    Promise.all(ids.map((id) => load(q("getExecution", { params: { id } })))),
  component: lazyPage(() => import("../pages/executions/compare-page.tsx"), "ComparePage"),
});

/** To an execution, whichever organisation it belongs to. */
async function locate(scope: Scope, id: string): Promise<never> {
  try {
    const { organizationSlug } = await scope.api.locateExecution({ params: { id } });
    throw redirect({
      to: "/o/$org/executions/$id",
      params: { org: organizationSlug, id },
      replace: true,
    });
  } catch (error) {
    if (isNotFound(error)) throw notFound();
    throw error;
  }
}

/** The link that the CLI prints for a job. */
const job = createRoute({
  getParentRoute: () => signedIn,
  path: "jobs/$id",
  beforeLoad: ({ context: { scope }, params }) => locate(scope, params.id),
});

const anyExecution = createRoute({
  getParentRoute: () => signedIn,
  path: "executions/$id",
  beforeLoad: ({ context: { scope }, params }) => locate(scope, params.id),
});

/** Executions of an organisation, and each of them. */
export const executionRoutes = [executions, compare, execution] as const;

/** Links to an execution that name no organisation. */
export const shortLinkRoutes = [job, anyExecution] as const;
