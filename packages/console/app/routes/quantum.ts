import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { q } from "../api/queries.ts";
import { quantumJobsSearch, toQuery } from "../quantum/filter.ts";
import { oneOf, search } from "../util/url-state.ts";
import { organisation } from "./root.ts";

const backendSearch = search({
  tab: oneOf("configuration", "calibration", "programs"),
  new: oneOf("job"),
});
const jobSearch = search({ tab: oneOf("circuit", "log", "facts") });

const backends = createRoute({
  getParentRoute: () => organisation,
  path: "backends",
  loader: ({ context: { load } }) => load(q("listBackends", {})),
  component: lazyRouteComponent(() => import("../pages/backends/backends-page.tsx"), "BackendsPage"),
});

const backend = createRoute({
  getParentRoute: () => organisation,
  path: "backends/$id",
  validateSearch: backendSearch,
  loader: ({ context: { load }, params: { id } }) =>
    Promise.all([
      load(q("getBackend", { params: { backendId: id } })),
      load(q("getBackendStatus", { params: { backendId: id } })),
    ]),
  component: lazyRouteComponent(() => import("../pages/backends/backend-page.tsx"), "BackendPage"),
});

const jobs = createRoute({
  getParentRoute: () => organisation,
  path: "quantum-jobs",
  validateSearch: quantumJobsSearch,
  loaderDeps: ({ search: given }) => toQuery(given),
  loader: ({ context: { load }, deps }) =>
    Promise.all([load(q("listQuantumJobs", { query: deps })), load(q("listBackends", {}))]),
  component: lazyRouteComponent(
    () => import("../pages/quantum-jobs/quantum-jobs-page.tsx"),
    "QuantumJobsPage",
  ),
});

const job = createRoute({
  getParentRoute: () => organisation,
  path: "quantum-jobs/$id",
  validateSearch: jobSearch,
  // A job is an execution: what is known of every execution is asked there.
  loader: ({ context: { load }, params: { id } }) =>
    Promise.all([load(q("getQuantumJob", { params: { id } })), load(q("getExecution", { params: { id } }))]),
  component: lazyRouteComponent(() => import("../pages/quantum-jobs/quantum-job-page.tsx"), "QuantumJobPage"),
});

/** Backends, and the jobs that they run. */
export const quantumRoutes = [backends, backend, jobs, job] as const;
