import type { AddressInfo } from "node:net";
import type { AuditEvent } from "@platform/contract/platform-api/audit";
import { PLATFORM_API } from "@platform/contract/platform-api/platform-api";
import type { Build } from "@platform/contract/platform-api/builds";
import type { Service } from "@platform/contract/platform-api/services";
import { Problem } from "@platform/contract/problems";
import { createExecutions } from "@platform/engine/executions/executions";
import { registerOperations } from "@platform/engine/http/pipeline";
import { jobPresenter } from "@platform/engine/http/presenters";
import { createHttpServer } from "@platform/engine/http/server";
import { registerServiceApi } from "@platform/engine/http/service-api";
import { createMemoryStore } from "@platform/engine/store/memory-store";
import { createJsonCheck } from "@platform/engine/json-check/json-check";
import type { FastifyRequest } from "fastify";
import { createKeptContents } from "../serve/kept-contents.ts";
import { createLocalFiles } from "../serve/local-files.ts";
import { createOutput } from "../base/output.ts";
import { toJobOwner } from "@platform/engine/store/owner";
import { SECRETS_TABLE, createSecrets } from "./secrets.ts";
import { createServerLogger } from "../serve/server-logger.ts";
import { ACCESS_TABLE, createAccess } from "./access.ts";
import { DEVICE_API } from "@platform/contract/platform-api/device";
import { createDevice } from "./device.ts";
import { MARKET_TABLE, createMarket } from "./market.ts";
import { createPeerJobs } from "./peer-jobs.ts";
import type { PeerJobs } from "./peer-jobs.ts";
import { OPERATOR_TABLE, createOperators } from "./operators.ts";
import { createPeople } from "./people.ts";
import { SESSION_COOKIE, SIGN_UP_TABLE, createSignUp } from "./sign-up.ts";
import { readFeed } from "./feed.ts";
import { USAGE } from "./usage.ts";

export const TOKEN = "plat_test_token";
const OWNER = "org-1";
const KEY = "0198c1de-7a53-4000-8000-000000000001";

const { getMe, listOrganizations, listServices, createService, getService, putService } = PLATFORM_API;
const { createVersion, getBuild, getVersion, listVersions } = PLATFORM_API;
const { createOrganization, deleteOrganization, deleteService, retireVersion } = PLATFORM_API;
const { listMembers, putMember, removeMember, leaveOrganization } = PLATFORM_API;
const { listInvitations, createInvitation, revokeInvitation, acceptInvitation } = PLATFORM_API;
const { declineInvitation } = PLATFORM_API;
const { listEvents, getUsage, listAuditEvents, verifyAuditLog } = PLATFORM_API;
const TABLE = {
  getMe,
  listOrganizations,
  listServices,
  createService,
  getService,
  putService,
  createVersion,
  getBuild,
  getVersion,
  listVersions,
  createOrganization,
  deleteOrganization,
  deleteService,
  retireVersion,
  listMembers,
  putMember,
  removeMember,
  leaveOrganization,
  listInvitations,
  createInvitation,
  revokeInvitation,
  acceptInvitation,
  declineInvitation,
  ...ACCESS_TABLE,
  ...SIGN_UP_TABLE,
  ...SECRETS_TABLE,
  listEvents,
  getUsage,
  listAuditEvents,
  verifyAuditLog,
  ...MARKET_TABLE,
  ...OPERATOR_TABLE,
};

/** What the builder says next, one after the other; the last one stays. */
export type BuildStep = Omit<Build, "version" | "createdAt">;

export interface PlatformPeer extends PeerJobs {
  readonly url: string;
  /** Method and URL of every request, in order. */
  readonly requests: readonly string[];
  readonly uploads: readonly number[];
  /** The next upload is answered with these steps; `isNew` false means that nothing changed. */
  readonly scriptBuild: (steps: readonly BuildStep[], isNew?: boolean) => void;
  /** Names and values of the organisation's secrets that were set. */
  readonly secrets: ReadonlyMap<string, string>;
  /** From now on it is as a platform that has no streams of events. */
  readonly forgetStreams: () => void;
  /** Ends all connections that are open. */
  readonly breakConnections: () => void;
  /** From now on the audit log is not as it was written. */
  readonly breakAuditLog: () => void;
  readonly close: () => Promise<void>;
}

/** Newest first; what the newest actor is called is hostile. */
const AUDIT_EVENTS = [
  ["2", "ada@example.org", "b"],
  ["1", '=HYPERLINK("x","y")@example.org', "a"],
].map(([id = "", name = "", digit = ""]) => ({
  id,
  at: "2026-11-20 21:17:00",
  milliseconds: 1_795_209_420_000,
  actor: { kind: "claimed" as const, id: "user-1", name, credential: null },
  action: "session.create",
  target: { type: "session", id: null, path: null },
  outcome: "refused" as const,
  code: "INVALID_CREDENTIALS",
  ip: "192.0.2.1",
  changes: [],
  hash: digit.repeat(64),
}));
/** Who had a wrong secret of an access key is not known. */
const NAMELESS_EVENT = {
  id: "3",
  at: "2026-11-20 21:17:00",
  milliseconds: 1_795_209_420_000,
  actor: { kind: "claimed" as const, id: null, name: "", credential: null },
  action: "access-key.use",
  target: { type: "access-key", id: null, path: null },
  outcome: "refused" as const,
  code: "INVALID_CREDENTIALS",
  ip: "192.0.2.1",
  changes: [],
  hash: "c".repeat(64),
};
const APPLICATION_EVENT = {
  ...NAMELESS_EVENT,
  actor: { kind: "application" as const, id: "app-1", name: "shop", credential: null },
  action: "pool-file.create",
  target: { type: "pool-file", id: null, path: null },
  outcome: "done" as const,
  code: null,
  ip: "",
};
/** By action. */
const EVENTS_OF = new Map<string, AuditEvent[]>([
  ["access-key.use", [NAMELESS_EVENT]],
  ["pool-file.create", [APPLICATION_EVENT]],
]);

interface PeerOptions {
  /** What each question of a device login is answered; missing: there is no such login. */
  readonly device?: Parameters<typeof createDevice>[1];
  /** Who can sign up; missing: nobody. */
  readonly signUp?: "open" | "invitation";
}

const RETIRED = {
  status: "RETIRED" as const,
  resources: { cpu: 1, memory: 1 },
  timeoutSeconds: 60,
  inputSchema: null,
  createdAt: "2026-11-20 21:17:00",
  retiredAt: "2026-11-21 21:17:00",
};

const DETAILS = {
  readme: "# Tours",
  outputSchema: null,
  exampleInput: { data: { n: 5 } },
  sizeBytes: 4_711,
  python: "3.12.1",
  requirements: ["numpy==2.0", "# constraints", "scipy<2\u001b[2J"],
  createdBy: "Ada\u001b[2J",
  formerVersion: "0.9.0",
  isBreaking: true,
  breakingChange: "data needs n",
  breakingChanges: ["data needs n"],
};

const ORGANIZATIONS = [
  { id: OWNER, slug: "ada", name: "Ada", role: "owner" as const, isPersonal: true },
  { id: "org-2", slug: "lab", name: "Quantum Lab", role: "maintainer" as const, isPersonal: false },
];

/**
 * The far end of the platform API over real HTTP: the contract's operations and the engine's jobs, with a builder and a
 * worker that do what the test says. The stories against the whole platform are in tests/e2e.
 */
export async function startPlatformPeer(options: PeerOptions = {}): Promise<PlatformPeer> {
  const output = createOutput({ out: SILENCE, err: SILENCE, isJson: false, noColor: true });
  const app = createHttpServer({ logger: createServerLogger(output, false) });
  const requests: string[] = [];
  const streams = { areMissing: false };
  const uploads: number[] = [];
  const services: Service[] = [];
  const store = createMemoryStore();
  let isAuditLogBroken = false;
  const secrets = new Map<string, string>();
  let build = { steps: [] as readonly BuildStep[], isNew: true, shown: 0 };
  app.addHook("onRequest", async (request) => {
    requests.push(`${request.method} ${request.url}`);
    if (streams.areMissing && request.url.endsWith("/events")) throw new Problem("NOT_FOUND");
  });

  const nextStep = (): Build => {
    const step = build.steps[Math.min(build.shown, build.steps.length - 1)];
    build.shown += 1;
    if (step === undefined) throw new Problem("UNAVAILABLE");
    return { version: "1.0.0", createdAt: "2026-11-20 21:17:00", ...step };
  };

  await registerOperations(app, TABLE, {
    prefix: "/api",
    authenticate,
    authorize: () => undefined,
    handlers: {
      getMe: async ({ http }) => {
        const id = http.headers["x-organizationid"] ?? OWNER;
        const organization = ORGANIZATIONS.find((one) => one.id === id);
        if (organization === undefined) throw new Problem("FORBIDDEN");
        const user = {
          id: "user-1",
          email: "ada@example.org",
          emailVerified: true,
          name: "Ada",
          operator: false,
        };
        return ok({ ...user, organization, organizations: ORGANIZATIONS });
      },
      listOrganizations: async () => ({
        status: 200 as const,
        body: { items: ORGANIZATIONS, nextCursor: null },
      }),
      listServices: async ({ query }) => {
        const items = services.filter(({ name }) => query.name === undefined || query.name === name);
        return ok({ items, nextCursor: null });
      },
      createService: async ({ body }) => {
        const service: Service = {
          key: KEY,
          name: body.name,
          description: body.description ?? "",
          publication: null,
          logs: "caller",
          resultDays: null,
          logDays: null,
          latestVersion: null,
          createdAt: "2026-11-20 21:17:00",
        };
        services.push(service);
        return { status: 201 as const, body: service };
      },
      getService: async ({ params }) => {
        const body = services.find(({ key }) => key === params.key);
        if (body === undefined) throw new Problem("SERVICE_NOT_FOUND");
        return ok(body);
      },
      putService: async ({ params, body }) => {
        const index = services.findIndex(({ key }) => key === params.key);
        const service = services[index];
        if (service === undefined) throw new Problem("SERVICE_NOT_FOUND");
        const changed = { ...service, ...body };
        services[index] = changed;
        return ok(changed);
      },
      deleteService: async ({ params }) => {
        const index = services.findIndex(({ key }) => key === params.key);
        if (index < 0) throw new Problem("SERVICE_NOT_FOUND");
        services.splice(index, 1);
        return { status: 204 as const };
      },
      retireVersion: async ({ params }) => {
        if (params.version !== "1.0.0") throw new Problem("SERVICE_NOT_FOUND");
        return ok({ ...RETIRED, version: params.version });
      },
      deleteOrganization: async ({ params, http }) => {
        if (http.headers["x-organizationid"] !== params.id) throw new Problem("NOT_FOUND");
        return { status: 204 as const };
      },
      createVersion: async ({ body }) => {
        uploads.push(await countBytes(body));
        return build.isNew ? { status: 201 as const, body: nextStep() } : ok(nextStep());
      },
      getBuild: async () => ok(nextStep()),
      listVersions: async () => ok({ items: [], nextCursor: null }),
      getVersion: async ({ params }) => {
        if (params.version !== "1.0.0") throw new Problem("SERVICE_NOT_FOUND");
        return ok({ ...RETIRED, ...DETAILS, version: params.version });
      },
      ...createPeople(),
      ...createOperators(),
      ...createAccess(options.signUp),
      ...createSignUp(),
      ...createSecrets(secrets),
      listEvents: async ({ query }) => ok(readFeed(KEY, query.after)),
      getUsage: async () => ok({ items: USAGE, nextCursor: null }),
      listAuditEvents: async ({ query }) =>
        ok({
          items: query.action === undefined ? AUDIT_EVENTS : (EVENTS_OF.get(query.action) ?? []),
          nextCursor: null,
        }),
      verifyAuditLog: async ({ query }) => {
        if (isAuditLogBroken) return ok({ checked: 6, firstBroken: "7", nextCursor: null });
        if (query.cursor === "second") return ok({ checked: 1, firstBroken: null, nextCursor: null });
        return ok({ checked: 1_000, firstBroken: null, nextCursor: "second" });
      },
      ...createMarket(services),
    },
  });
  if (options.device !== undefined)
    await registerOperations(app, DEVICE_API, {
      prefix: "/api",
      authenticate,
      handlers: createDevice(TOKEN, options.device),
    });
  const executions = createExecutions({
    store,
    inputs: createLocalFiles({
      root: "/nowhere",
      contents: createKeptContents("/nowhere"),
      jsonCheck: createJsonCheck(),
    }),
  });
  await registerServiceApi(app, {
    prefix: "/api/jobs",
    executions,
    presenter: jobPresenter,
    authenticate,
    ownerOf: () => toJobOwner(OWNER),
    targetOf: () => TARGET,
    receipts: {
      describeVersion: () => Promise.reject(new Problem("RESULT_EXPIRED")),
      sign: () => Promise.reject(new Problem("RESULT_EXPIRED")),
    },
    baseOf: () => "/api/jobs",
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  return {
    url: `http://127.0.0.1:${readPort(app.server.address())}`,
    requests,
    uploads,
    scriptBuild: (steps, isNew = true) => {
      build = { steps, isNew, shown: 0 };
    },
    secrets,
    breakAuditLog: () => {
      isAuditLogBroken = true;
    },
    ...createPeerJobs(store),
    forgetStreams: () => {
      streams.areMissing = true;
    },
    breakConnections: () => app.server.closeAllConnections(),
    close: async () => {
      executions.close();
      await app.close();
    },
  };
}

const TARGET = {
  id: "v1",
  resources: { cpu: 1, memory: 1 },
  timeoutSeconds: 60,
  inputSchema: null,
};

function ok<T>(body: T) {
  return { status: 200 as const, body };
}

function authenticate(request: FastifyRequest): null {
  const { authorization, cookie } = request.headers;
  if (authorization !== `Bearer ${TOKEN}` && cookie !== SESSION_COOKIE)
    throw new Problem("UNAUTHENTICATED", "The token is not valid.");
  return null;
}

const SILENCE = { write: () => undefined, isTerminal: false };

async function countBytes(body: unknown): Promise<number> {
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) bytes += chunk.length;
  return bytes;
}

function readPort(address: AddressInfo | string | null): number {
  if (typeof address !== "object" || address === null) throw new Error("the peer does not listen");
  return address.port;
}
