import { expectOk, fetchAccessToken, request } from "../../../../tools/platform-client.ts";
import type { Subscription } from "../../../../tools/platform-client.ts";
import { createTour, MOST_STOPS, PROJECTS } from "./laboratory-projects.ts";
import type { ConsoleWorld } from "./open-console.ts";
import {
  callQuantum,
  deployBackend,
  H7,
  openQuantumSession,
  startQuantumJob,
  toCircuit,
  toJob,
} from "./quantum-backend.ts";
import { signUp } from "./sign-up.ts";

const HOUR_MS = 3_600_000;

/** What a page of every kind shows when there is something to show: two organisations, one of which provides what the other one calls. */
export interface Laboratory {
  /** Slugs. */
  readonly provider: string;
  readonly customer: string;
  /** An organisation in which there is nothing. */
  readonly empty: string;
  readonly serviceKey: string;
  /** A service without a version: its build has failed. */
  readonly failedServiceKey: string;
  readonly applicationId: string;
  readonly subscriptionId: string;
  readonly poolId: string;
  /** Executions of the provider. */
  readonly succeeded: string;
  readonly alsoSucceeded: string;
  readonly failed: string;
  readonly running: string;
  readonly waiting: string;
  /** Id of a backend of the provider, and jobs of it: measured, sampled, refused by it, and one that runs. */
  readonly backend: string;
  readonly measured: string;
  readonly sampled: string;
  readonly refused: string;
  readonly onDevice: string;
  /** A session of the backend, with a job. */
  readonly session: string;
  /** Token of an invitation to the provider. */
  readonly invitation: string;
}

type Call = <T = Readonly<Record<string, string>>>(
  method: string,
  path: string,
  json?: unknown,
) => Promise<T>;

/** Fills a platform as two firms would after some weeks; everything goes through the API and the CLI. */
export async function fillLaboratory(world: ConsoleWorld): Promise<Laboratory> {
  const as = (organizationId: string): Call => {
    return <T>(method: string, path: string, json?: unknown) =>
      expectOk(
        request<T>(method, `${world.login.apiUrl}/api${path}`, {
          token: world.login.personalAccessToken,
          headers: { "x-organizationid": organizationId },
          ...(json === undefined ? {} : { json }),
        }),
      );
  };
  const { body: me } = await world.api<{ organization: { id: string } }>("GET", "/me");
  const provider = as(me.organization.id);
  await provider("PUT", "/me", { name: "Greta Hofer" });
  await provider("PUT", `/organizations/${me.organization.id}`, {
    name: "Alpine Optimisation Lab",
    slug: "alpine-lab",
  });
  const [customer, empty] = await Promise.all([
    world.createOrganisation("Nordwind Logistics"),
    world.createOrganisation("Field trials"),
  ]);
  const services = await deployServices(world, provider);
  await offer(provider, services.serviceKey);
  const executions = await runJobs(provider, services.serviceKey);
  const quantum = await runQuantumJobs(world, me.organization.id);
  const subscribed = await subscribe(world, as(customer.id), services.serviceKey);
  const poolId = await storeMaps(world, customer.id, as(customer.id), subscribed.applicationId);
  return {
    provider: "alpine-lab",
    customer: customer.slug,
    empty: empty.slug,
    ...services,
    ...quantum,
    ...executions,
    ...subscribed,
    poolId,
    invitation: await addPeople(world, provider),
  };
}

async function deployServices(world: ConsoleWorld, provider: Call) {
  const create = (name: keyof typeof PROJECTS) =>
    world.createProject(name, PROJECTS[name].program, PROJECTS[name].files);
  const [routes, forecast, loading] = await Promise.all([
    create("route-planner"),
    create("load-forecast"),
    create("van-loading"),
  ]);
  const [{ serviceKey }] = await Promise.all([
    world.deploy(routes, "--version", "1.0.0"),
    world.deploy(forecast),
    world.cli(loading, "up", "--json"),
  ]);
  const { program, files } = PROJECTS["route-planner"];
  await world.deploy(
    await world.createProject("route-planner", program.replace("length, 3", "length, 2"), files),
    "--minor",
  );
  const { items } = await provider<{ items: readonly { key: string; name: string }[] }>("GET", "/services");
  const failedServiceKey = items.find(({ name }) => name === "van-loading")?.key ?? "";
  return { serviceKey, failedServiceKey };
}

/** Shows the service in the marketplace, with two plans, and sets what its runs get. */
async function offer(provider: Call, key: string): Promise<void> {
  await provider("PUT", `/services/${key}/listing`, {
    title: "Route planner for one van",
    summary: "Round trips of up to 200 stops within seconds",
    tags: ["logistics", "optimisation"],
    contact: "routes@alpine-lab.example",
  });
  await provider("PUT", `/services/${key}/plans/trial`, {
    name: "Trial",
    description: "To look at it, with all that it can do.",
    limits: { perMonth: 100, concurrent: 2 },
  });
  await provider("PUT", `/services/${key}/plans/business`, {
    name: "Business",
    description: "For daily planning; answers within an hour on working days.",
    currency: "EUR",
    monthly: "49",
    perExecution: "0.012",
    included: 2_000,
    limits: { perMonth: 50_000, concurrent: 20, perMinute: 600 },
  });
  await provider("POST", `/services/${key}/publish`, { scope: "marketplace" });
  await provider("PUT", `/services/${key}/variables/MAP_REGION`, { value: "salzburg" });
  await provider("PUT", `/services/${key}/secrets/TRAFFIC_API_KEY`, { value: "a key of nobody, 24 letters" });
}

async function runJobs(provider: Call, serviceKey: string) {
  const start = async (json: unknown, version?: string) =>
    (
      await provider<{ id: string }>(
        "POST",
        `/jobs?serviceKey=${serviceKey}${version === undefined ? "" : `&version=${version}`}`,
        json,
      )
    ).id;
  const slower = { speed_kmh: 45, minutes_per_stop: 8 };
  const succeeded = await start({ data: createTour(MOST_STOPS), params: slower });
  const alsoSucceeded = await start(
    { data: createTour(MOST_STOPS), params: { ...slower, speed_kmh: 60 } },
    "1.0.0",
  );
  const failed = await start({ data: createTour(0) });
  // More than a page of a list.
  const items = Array.from({ length: 20 }, (_, index) => ({
    data: createTour(index === 5 ? 0 : 1 + (index % MOST_STOPS)),
    params: { speed_kmh: 40 + index },
  }));
  await provider("POST", `/jobs/batch?serviceKey=${serviceKey}`, { items });
  await waitForAll(provider);
  const running = await start({ data: createTour(4), params: { search_seconds: 800 } });
  const waiting = await start({
    data: createTour(3),
    startAt: new Date(Date.now() + 9 * HOUR_MS).toISOString(),
  });
  return { succeeded, alsoSucceeded, failed, running, waiting };
}

/** A backend, and what jobs of it can become. */
async function runQuantumJobs(world: ConsoleWorld, organizationId: string) {
  const backend = "lab.h7";
  await deployBackend(world, backend, H7);
  const start = (json: object, seconds = 30) => startQuantumJob(world, organizationId, json, seconds);
  const problem = {
    bqm: { variable_labels: ["north", "south", "east"], linear_biases: [1, -2, 0.5] },
  };
  await callQuantum(world, organizationId, "PUT", "/budgets/EUR", { json: { amount: 250 } });
  const session = await openQuantumSession(world, organizationId, backend);
  const [measured, sampled, refused] = [
    await start(
      toJob(backend, [toCircuit(5, "// spread"), toCircuit(3)], {
        name: "GHZ, all widths",
        session_id: session,
        max_cost: "2.5",
        tags: ["ghz", "nightly"],
      }),
    ),
    await start({ backend_id: backend, input_format: "DIMOD_BQM", input: problem, shots: 20 }),
    await start(toJob(backend, [toCircuit(2, "// fails")], { name: "Without its register" })),
  ];
  const onDevice = await start(toJob(backend, [toCircuit(2, "// seconds 800")], { name: "Long run" }), 1);
  return { backend, session, measured, sampled, refused, onDevice };
}

/** Until nothing waits or runs any more. */
async function waitForAll(provider: Call): Promise<void> {
  for (;;) {
    const { total } = await provider<{ total: number }>(
      "GET",
      "/executions/counts?status=PENDING&status=RUNNING",
    );
    if (total === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function subscribe(world: ConsoleWorld, customer: Call, serviceKey: string) {
  const { id: applicationId = "" } = await customer("POST", "/applications", { name: "Dispatch office" });
  await customer("POST", "/applications", { name: "Planning, nightly" });
  const key = await customer<Pick<Subscription, "keyId" | "secret">>(
    "POST",
    `/applications/${applicationId}/access-keys`,
    {
      name: "dispatch-server",
      expiresInDays: 180,
    },
  );
  const webhooks = `/applications/${applicationId}/webhooks`;
  const { id: webhook = "" } = await customer("POST", webhooks, {
    url: "https://hooks.nordwind.example/runs",
  });
  await customer("PUT", `${webhooks}/${webhook}`, { isPaused: true });
  const { id: subscriptionId = "", endpointUrl = "" } = await customer("POST", "/subscriptions", {
    applicationId,
    serviceKey,
    planId: "business",
  });
  const token = await fetchAccessToken(world.login.gatewayUrl, key);
  for (let stops = 1; stops <= MOST_STOPS; stops += 1)
    await expectOk(request("POST", endpointUrl, { token, json: { data: createTour(stops) } }));
  return { applicationId, subscriptionId };
}

async function storeMaps(
  { login }: ConsoleWorld,
  organizationId: string,
  customer: Call,
  applicationId: string,
): Promise<string> {
  const { id = "" } = await customer("POST", "/data-pools", {
    name: "Street maps",
    description: "Distances by road, measured each quarter",
  });
  for (const [index, town] of ["innsbruck", "linz", "salzburg"].entries())
    await expectOk(
      request("PUT", `${login.apiUrl}/api/data-pools/${id}/files/${town}-2026q4.json`, {
        token: login.personalAccessToken,
        headers: { "content-type": "application/json", "x-organizationid": organizationId },
        body: JSON.stringify(Array.from({ length: 9_000 * (index + 1) }, (_, at) => at * 1.25)),
      }),
    );
  await customer("PUT", `/data-pools/${id}/grants/${applicationId}`, { access: "read" });
  return id;
}

/** A second member, an invitation that is open, and a token of the user. Returns the token of the invitation. */
async function addPeople({ login }: ConsoleWorld, provider: Call): Promise<string> {
  const invite = async (json: unknown) => {
    const { url = "" } = await provider("POST", "/invitations", json);
    return new URL(url).pathname;
  };
  const jonas = {
    name: "Jonas Berger",
    email: "jonas.berger@alpine-lab.example",
    password: "a password of many words",
  };
  await signUp(login.apiUrl, jonas, await invite({ role: "maintainer" }));
  await provider("POST", "/personal-access-tokens", {
    name: "laptop of Greta",
    scopes: ["deploy"],
    expiresInDays: 90,
  });
  const open = await invite({ role: "viewer", email: "mira@alpine-lab.example", expiresInDays: 14 });
  return open.split("/").at(-1) ?? "";
}
