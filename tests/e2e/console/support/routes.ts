import type { Page } from "playwright-core";
import { expect } from "vitest";
import type { Laboratory } from "./laboratory.ts";
import type { Stop } from "./walk.ts";

/** A route of the console, as its router has it. */
export interface Route {
  /** With its parameters, e.g. `/o/$org/services/$key`. */
  readonly pattern: string;
  readonly needsSession: boolean;
}

interface Router {
  readonly routesByPath: Readonly<Record<string, { readonly id: string }>>;
  readonly history: { readonly push: (path: string) => void };
  readonly state: {
    readonly status: "idle" | "pending";
    readonly location: { readonly href: string };
    /** That of the page which is shown; missing: there is none yet. */
    readonly resolvedLocation?: { readonly href: string };
  };
}

/** All routes that the built console has: TanStack Router leaves itself in the page. */
export async function listRoutes(page: Page): Promise<readonly Route[]> {
  const routes = await page.evaluate(() =>
    Object.entries((Reflect.get(globalThis, "__TSR_ROUTER__") as Router).routesByPath).map(
      ([pattern, { id }]) => ({ pattern, id }),
    ),
  );
  // Routes that need a session are below `in` (app/routes/root.ts).
  return routes.map(({ pattern, id }) => ({ pattern, needsSession: id.startsWith("/in/") }));
}

/** Goes to another page without loading the console again, and waits until it takes the place of the one that is shown. */
export async function goTo(page: Page, path: string): Promise<void> {
  await page.evaluate((to) => (Reflect.get(globalThis, "__TSR_ROUTER__") as Router).history.push(to), path);
  await expect.poll(() => page.evaluate(isShown)).toBe(true);
}

/** In the browser: whether the page of the address is the one that is shown. */
function isShown(): boolean {
  const { status, location, resolvedLocation } = (Reflect.get(globalThis, "__TSR_ROUTER__") as Router).state;
  return status === "idle" && resolvedLocation?.href === location.href;
}

/** Paths of an organisation's pages with what is in the place of their parameters; those that need more name it in full. */
function describeSubjects(lab: Laboratory): Readonly<Record<string, readonly string[]>> {
  const provider = `/o/${lab.provider}`;
  const customer = `/o/${lab.customer}`;
  const key = lab.serviceKey;
  return {
    "/o/$org/services/$key": [`${provider}/services/${key}`, `${provider}/services/${lab.failedServiceKey}`],
    "/o/$org/services/$key/versions/$version": [
      `${provider}/services/${key}/versions/1.1.0`,
      `${provider}/services/${lab.failedServiceKey}/versions/1.0.0`,
    ],
    "/o/$org/marketplace/$key": [`${customer}/marketplace/${key}`],
    "/o/$org/applications": [`${customer}/applications`, `/o/${lab.empty}/applications`],
    "/o/$org/applications/$id": [`${customer}/applications/${lab.applicationId}`],
    "/o/$org/applications/$id/subscriptions/$sid": [
      `${customer}/applications/${lab.applicationId}/subscriptions/${lab.subscriptionId}`,
    ],
    "/o/$org/data-pools": [`${customer}/data-pools`, `/o/${lab.empty}/data-pools`],
    "/o/$org/data-pools/$id": [`${customer}/data-pools/${lab.poolId}`],
    "/o/$org/executions/$id": [lab.succeeded, lab.failed, lab.running, lab.waiting].map(
      (id) => `${provider}/executions/${id}`,
    ),
    "/o/$org/executions/compare": [
      `${provider}/executions/compare?a=${lab.succeeded}&b=${lab.alsoSucceeded}`,
      `${provider}/executions/compare`,
    ],
    "/o/$org/executions": [
      `${provider}/executions`,
      `/o/${lab.empty}/executions`,
      `${provider}/executions?status=FAILED&code=OUT_OF_MEMORY`,
    ],
    "/o/$org/marketplace": [
      `${customer}/marketplace`,
      `${customer}/marketplace?tag=logistics`,
      `${customer}/marketplace?q=absent`,
    ],
    "/o/$org/backends": [`${provider}/backends`, `/o/${lab.empty}/backends`],
    "/o/$org/backends/$id": [`${provider}/backends/${lab.backend}`],
    "/o/$org/quantum-jobs": [
      `${provider}/quantum-jobs`,
      `/o/${lab.empty}/quantum-jobs`,
      `${provider}/quantum-jobs?tag=absent&after=2026-01-01+00%3A00%3A00`,
    ],
    "/o/$org/quantum-jobs/$id": [lab.measured, lab.sampled, lab.refused, lab.onDevice].map(
      (id) => `${provider}/quantum-jobs/${id}`,
    ),
    "/o/$org/quantum-sessions": [`${provider}/quantum-sessions`, `/o/${lab.empty}/quantum-sessions`],
    "/o/$org/quantum-sessions/$id": [`${provider}/quantum-sessions/${lab.session}`],
    "/o/$org/usage": [`${provider}/usage`, `${customer}/usage?by=service`, `/o/${lab.empty}/usage`],
    "/o/$org": [provider, `/o/${lab.empty}`],
    "/jobs/$id": [`/jobs/${lab.succeeded}`],
    "/executions/$id": [`/executions/${lab.succeeded}`],
    "/invitations/$token": [`/invitations/${lab.invitation}`, "/invitations/no-such-invitation"],
    "/reset-password/$token": ["/reset-password/no-such-link"],
    "/verify-email/$token": ["/verify-email/no-such-link"],
    "/o/$org/audit": [`${provider}/audit`, `${provider}/audit?actor=nobody`],
  };
}

/** The paths at which a route is looked at. @throws Error for a parameter that has no value here: a new route needs one */
function listPaths(pattern: string, lab: Laboratory): readonly string[] {
  const subjects = describeSubjects(lab);
  // The longest beginning that is known, at the end of a segment.
  const segments = pattern.split("/");
  for (let count = segments.length; count > 0; count -= 1) {
    const known = subjects[segments.slice(0, count).join("/")];
    const rest = segments.slice(count).join("/");
    if (known === undefined || rest.includes("$")) continue;
    const paths = rest === "" ? known : known.filter((path) => !path.includes("?"));
    return paths.map((path) => (rest === "" ? path : `${path}/${rest}`));
  }
  if (pattern.includes("$"))
    throw new Error(`the route ${pattern} is new: say in routes.ts what its parameters are`);
  return [pattern];
}

/** All pages with a session, or without: each route with what is in the place of its parameters. */
export function listStops(routes: readonly Route[], lab: Laboratory, needsSession: boolean): Stop[] {
  return routes
    .filter((route) => route.needsSession === needsSession)
    .flatMap(({ pattern }) => listPaths(pattern, lab).map((path) => ({ path, pattern })));
}
