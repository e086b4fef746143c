import { createRoute } from "@tanstack/react-router";
import { q } from "../api/queries.ts";
import {
  quantumJobsSearch,
  sessionSearch,
  sessionsSearch,
  toQuery,
  toSessionsQuery,
} from "../quantum/filter.ts";
import { oneOf, search, text } from "../util/url-state.ts";
import { lazyPage } from "./lazy-page.ts";
import { organisation } from "./root.ts";

const backendSearch = search({
  tab: oneOf("configuration", "calibration", "programs"),
  new: oneOf("job"),
  session: text(),
});
const jobSearch = search({ tab: oneOf("circuit", "log", "calibration", "facts") });

const backends = createRoute({
  getParentRoute: () => organisation,
  path: "backends",
  loader: ({ context: { load } }) => load(q("listBackends", {})),
  component: lazyPage(() => import("../pages/backends/backends-page.tsx"), "BackendsPage"),
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
  component: lazyPage(() => import("../pages/backends/backend-page.tsx"), "BackendPage"),
});

const jobs = createRoute({
  getParentRoute: () => organisation,
  path: "quantum-jobs",
  validateSearch: quantumJobsSearch,
  loaderDeps: ({ search: given }) => toQuery(given),
  loader: ({ context: { load }, deps }) =>
    Promise.all([load(q("listQuantumJobs", { query: deps })), load(q("listBackends", {}))]),
  component: lazyPage(() => import("../pages/quantum-jobs/quantum-jobs-page.tsx"), "QuantumJobsPage"),
});

const job = createRoute({
  getParentRoute: () => organisation,
  path: "quantum-jobs/$id",
  validateSearch: jobSearch,
  // A job is an execution: what is known of every execution is asked there.
  loader: ({ context: { load }, params: { id } }) =>
    Promise.all([load(q("getQuantumJob", { params: { id } })), load(q("getExecution", { params: { id } }))]),
  component: lazyPage(() => import("../pages/quantum-jobs/quantum-job-page.tsx"), "QuantumJobPage"),
});

const sessions = createRoute({
  getParentRoute: () => organisation,
  path: "quantum-sessions",
  validateSearch: sessionsSearch,
  loaderDeps: ({ search: given }) => toSessionsQuery(given),
  loader: ({ context: { load }, deps: query }) => load(q("listQuantumWorkloads", { query })),
  component: lazyPage(() => import("../pages/quantum-sessions/sessions-page.tsx"), "SessionsPage"),
});

const session = createRoute({
  getParentRoute: () => organisation,
  path: "quantum-sessions/$id",
  validateSearch: sessionSearch,
  loaderDeps: ({ search: given }) => toQuery(given),
  loader: ({ context: { load }, params: { id }, deps: query }) =>
    Promise.all([
      load(q("getQuantumSession", { params: { id } })),
      load(q("listQuantumSessionJobs", { params: { id }, query })),
    ]),
  component: lazyPage(() => import("../pages/quantum-sessions/session-page.tsx"), "SessionPage"),
});

/** Backends, the jobs that they run, and sessions of these. */
export const quantumRoutes = [backends, backend, jobs, job, sessions, session] as const;
