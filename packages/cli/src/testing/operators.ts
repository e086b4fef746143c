import { PLATFORM_API } from "@platform/contract/platform-api/platform-api";
import type { Instance, Worker } from "@platform/contract/platform-api/operator-instance";
import type { PlatformBackend } from "@platform/contract/platform-api/operator-backends";
import type { User } from "@platform/contract/platform-api/operator-accounts";
import { Problem } from "@platform/contract/problems";
import type { OperationHandlers } from "@platform/engine/http/types";

const { getInstance, getStorage, listWorkers, drainWorker, resumeWorker } = PLATFORM_API;
const { listPlatformBackends, putPlatformBackend, deletePlatformBackend } = PLATFORM_API;
const { listUsers, putUser, createResetLink, listAllOrganizations } = PLATFORM_API;
/** What the peer has for operators. */
export const OPERATOR_TABLE = {
  getInstance,
  getStorage,
  listWorkers,
  drainWorker,
  resumeWorker,
  listPlatformBackends,
  putPlatformBackend,
  deletePlatformBackend,
  listUsers,
  putUser,
  createResetLink,
  listAllOrganizations,
};

const AT = "2026-11-20 21:17:00";
/** What the name of the user is, is hostile. */
const EVE: User = {
  id: "0198c1de-7a53-4000-8000-0000000000e0",
  email: "eve@example.org",
  emailVerified: false,
  name: "Eve\u001b[31m",
  operator: false,
  hasPassword: true,
  organizations: 2,
  createdAt: AT,
  lastSeenAt: null,
  disabledAt: null,
};
const SANDBOX = { level: "B", gives: "Each execution has namespaces.", missing: [] } as const;
const WORKER: Worker = {
  id: "worker-1",
  kind: "service",
  host: "node-1",
  roles: ["worker"],
  version: "1.2.3",
  startedAt: AT,
  lastSeenAt: AT,
  live: true,
  draining: false,
  drainingSince: null,
  capacity: { cpu: 4, memory: 8 },
  used: { cpu: 1.5, memory: 2 },
  running: 3,
  builds: 0,
  sandbox: { ...SANDBOX, missing: [] },
  pythons: ["3.13.1"],
};
/** What its service is called, is hostile. */
const BACKEND: PlatformBackend = {
  id: "sim.statevector",
  aliasOf: null,
  service: { key: "service-1", name: "aer\u001b[31m", organizationId: "org-1", organization: "Lab" },
  version: "1.0.0",
  sharedAt: AT,
};
const GB = 1_073_741_824;
const INSTANCE: Instance = {
  version: "1.2.3",
  versions: ["1.2.2", "1.2.3"],
  apiUrl: "http://api.example.org",
  gatewayUrl: "http://gateway.example.org",
  processes: [
    {
      id: "worker-1",
      host: "node-1",
      pid: 4711,
      roles: ["worker"],
      version: "1.2.3",
      startedAt: AT,
      uptimeSeconds: 7_300,
      lastSeenAt: AT,
      live: false,
      disk: { freeBytes: GB, totalBytes: 2 * GB },
      faults: [{ part: "disk", detail: "It is full." }],
      sandbox: { ...SANDBOX, missing: [] },
      python: "3.13.1",
    },
  ],
  queue: [
    { reason: "NO_WORKER", meaning: "no worker is running", executions: 1_234, oldestSince: AT },
    { reason: "START_AT", meaning: "its start has asked for a later time", executions: 1, oldestSince: AT },
  ],
  database: {
    kind: "embedded",
    version: "18.1",
    sizeBytes: 1.5 * GB,
    connections: 7,
    maxConnections: 150,
    oldestTransactionSeconds: 0,
    answeredInMs: 2,
    migration: "processes",
  },
  disk: { freeBytes: GB, totalBytes: 2 * GB, floorBytes: GB, low: true },
  signUp: { mode: "invitation", changeable: false, how: "By a restart." },
  settings: [
    {
      name: "secret",
      variable: "PLATFORM_SECRET",
      value: null,
      source: "environment",
      secret: true,
      help: "",
    },
    {
      name: "api-port",
      variable: "PLATFORM_API_PORT",
      value: "8090",
      source: "default",
      secret: false,
      help: "",
    },
  ],
};

/** One user, one worker and one organisation. */
export function createOperators(): OperationHandlers<typeof OPERATOR_TABLE, null> {
  let user = EVE;
  let worker = WORKER;
  let backends: readonly PlatformBackend[] = [];
  const requireUser = (id: string) => {
    if (id !== user.id) throw new Problem("NOT_FOUND", "There is no such user.");
  };
  const setDraining = (id: string, draining: boolean) => {
    if (id !== worker.id) throw new Problem("NOT_FOUND", "There is no such worker.");
    worker = { ...worker, draining, drainingSince: draining ? AT : null };
    return { status: 200 as const, body: worker };
  };
  return {
    getInstance: () => ({ status: 200, body: INSTANCE }),
    getStorage: () => ({
      status: 200,
      body: {
        measuredAt: AT,
        kinds: [{ kind: "archives", count: 2, bytes: 1.5 * GB, retention: "As long as their version." }],
      },
    }),
    listWorkers: () => ({ status: 200, body: { items: [worker], nextCursor: null } }),
    drainWorker: ({ params }) => setDraining(params.workerId, true),
    resumeWorker: ({ params }) => setDraining(params.workerId, false),
    listPlatformBackends: () => ({ status: 200, body: { items: [...backends], nextCursor: null } }),
    putPlatformBackend: ({ params: { backendId: id }, body }) => {
      const backend = { ...BACKEND, id, aliasOf: body.aliasOf ?? null };
      backends = [...backends, backend];
      return { status: 200, body: backend };
    },
    deletePlatformBackend: ({ params: { backendId } }) => {
      if (!backends.some(({ id }) => id === backendId)) throw new Problem("BACKEND_NOT_FOUND");
      backends = backends.filter(({ id }) => id !== backendId);
      return { status: 204 };
    },
    listUsers: ({ query: { q = "", state } }) => {
      const isShown =
        (user.email.includes(q) || user.id === q) && (state !== "disabled" || user.disabledAt !== null);
      return { status: 200, body: { items: isShown ? [user] : [], nextCursor: null } };
    },
    putUser: ({ params, body }) => {
      requireUser(params.userId);
      user = { ...user, disabledAt: body.disabled ? AT : null };
      return { status: 200, body: user };
    },
    createResetLink: ({ params: { userId } }) => {
      requireUser(userId);
      const url = "http://api.example.org/reset-password/token";
      return { status: 201, body: { userId, email: user.email, url, expiresAt: AT } };
    },
    listAllOrganizations: () => ({
      status: 200,
      body: {
        items: [
          {
            id: "org-1",
            slug: "lab",
            name: "Lab",
            isPersonal: false,
            createdAt: AT,
            members: 2,
            services: 3,
            applications: 4,
            poolBytes: 5,
          },
        ],
        nextCursor: null,
      },
    }),
  };
}
