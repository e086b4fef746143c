import type { KeptDays } from "@platform/contract/execution";
import { Problem } from "@platform/contract/problems";
import { pino } from "pino";
import { DAY } from "../base/time.ts";
import { createUuidV7 } from "../base/uuid.ts";
import type { ResultStore } from "../content/result-store.ts";
import { createExecutions } from "../executions/executions.ts";
import type { PlaceLimits } from "../executions/places.ts";
import type { StreamRoom } from "../executions/stream-room.ts";
import type { StreamTimes } from "../http/event-stream.ts";
import { hostedPresenter, jobPresenter, localPresenter } from "../http/presenters.ts";
import { createHttpServer } from "../http/server.ts";
import { registerServiceApi } from "../http/service-api.ts";
import type { Outcome } from "../python/port/runtime.ts";
import type { Claim } from "../store/execution-store.ts";
import { createMemoryStore } from "../store/memory-store.ts";
import type { Owner } from "../store/owner.ts";
import { createOwner, createUuidAt } from "./execution-fixtures.ts";

export const TARGET = {
  id: createUuidV7(),
  resources: { cpu: 1, memory: 1 },
  timeoutSeconds: 60,
  inputSchema: {
    type: "object",
    properties: { params: { type: "object", properties: { shots: { type: "integer", default: 100 } } } },
  },
};
export const SUCCESS = {
  status: "SUCCEEDED",
  result: Buffer.from('{"length": 7542}'),
  metadata: null,
} as const satisfies Outcome;
export const RETENTION_DAYS = 30;
export const LOG_RETENTION_DAYS = 7;
export const TIMESTAMP = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/;

export type ServiceApiScene = Awaited<ReturnType<typeof openServiceApiScene>>;

const PREFIXES = [
  { prefix: "/hosted", presenter: hostedPresenter },
  { prefix: "/jobs", presenter: jobPresenter },
  { prefix: "", presenter: localPresenter },
];

const readNothing: ResultStore["read"] = () => Promise.reject(new Error("there is no content"));

interface SceneOptions {
  readonly room?: StreamRoom;
  readonly waitLimits?: PlaceLimits;
  readonly streamTimes?: StreamTimes;
  /** @throws Problem FORBIDDEN: of the owner who may not read logs */
  readonly requireLogs?: (owner: string) => void;
  /** Called before anything has taken a method of the store. */
  readonly arrange?: (store: ReturnType<typeof createMemoryStore>) => void;
}

/** The service API over a store in memory, as the gateway, as jobs and as the local server show it. */
export async function openServiceApiScene({
  room,
  waitLimits,
  streamTimes,
  requireLogs,
  arrange,
}: SceneOptions = {}) {
  const clock: { now: number | null } = { now: null };
  const said: { kept: KeptDays | undefined } = { kept: undefined };
  const store = createMemoryStore();
  arrange?.(store);
  const contents = { read: readNothing };
  /** Owners whose token was revoked. */
  const revoked = new Set<string>();
  /** Whose token now stands for another owner, as after a new subscription. */
  const successors = new Map<string, string>();
  const authenticate = (owner: string): string => {
    if (revoked.has(owner)) throw new Problem("UNAUTHENTICATED");
    return successors.get(owner) ?? owner;
  };
  // Each is of an organisation of its own.
  const owners = new Map<string, Owner>();
  const ownerOf = (id: string): Owner => {
    const owner = owners.get(id) ?? createOwner(id);
    owners.set(id, owner);
    return owner;
  };
  const executions = createExecutions({
    store,
    ...(room === undefined ? {} : { room }),
    ...(waitLimits === undefined ? {} : { waitLimits }),
    retentionDays: { result: RETENTION_DAYS, log: LOG_RETENTION_DAYS, most: 60 },
    results: { read: (hash, range) => contents.read(hash, range) },
    queueLimits: { perOwner: 300, total: 301 },
    now: () => clock.now ?? Date.now(),
    inputs: {
      pin: async (reference) => ({ ...reference, sha256: "0".repeat(64), bytes: 2 }),
      pinPools: async () => [],
      place: async () => "gone",
    },
  });
  const app = createHttpServer({ logger: pino({ level: "silent" }) });
  for (const { prefix, presenter } of PREFIXES)
    await registerServiceApi(app, {
      prefix,
      presenter,
      executions,
      authenticate: (request) =>
        authenticate(prefix === "/hosted" ? String(request.headers["x-owner"] ?? "alice") : "alice"),
      ...(streamTimes === undefined ? {} : { streamTimes }),
      ...(requireLogs === undefined ? {} : { requireLogs }),
      ownerOf,
      targetOf: () => ({ ...TARGET, ...(said.kept === undefined ? {} : { kept: said.kept }) }),
      baseOf: () => prefix,
      receipts: {
        describeVersion: async () => ({
          serviceKey: "key",
          service: "tour",
          version: "1.0.0",
          contentHash: "c".repeat(64),
          built: { requirementsHash: "d".repeat(64), python: "3.13.1" },
        }),
        // Unsigned: what is signed is tried where it is.
        sign: async (receipt) => JSON.stringify(receipt),
      },
    });
  const start = (payload: unknown = {}, headers: Record<string, string> = {}) =>
    app.inject({
      method: "POST",
      url: "/hosted/",
      headers: { "content-type": "application/json", ...headers },
      payload: JSON.stringify(payload),
    });
  const claimOne = async (): Promise<Claim> => {
    const { claims } = await store.claim({
      workerId: "worker",
      sandboxLevel: "B" as const,
      limit: 1,
      free: { cpu: 1, memory: 1 },
      leaseSeconds: 30,
      excludedVersionIds: [],
    });
    const [claim] = claims;
    if (claim === undefined) throw new Error("nothing to claim");
    return claim;
  };
  return {
    app,
    store,
    executions,
    revoked,
    successors,
    /** What results are read from that are not in rows. */
    contents,
    start,
    claimOne,
    setNow: (now: number) => {
      clock.now = now;
    },
    startAndFinish: async (outcome: Outcome, kept?: KeptDays): Promise<string> => {
      said.kept = kept;
      const { id } = (await start()).json<{ id: string }>();
      await store.finish(await claimOne(), outcome);
      return id;
    },
    /** The result of an execution that is not there, by an id of this age. */
    readResultAged: (days: number) =>
      app.inject({ url: `/hosted/${createUuidAt(Date.now() - days * DAY)}/result` }),
    close: async () => {
      executions.close();
      await app.close();
    },
  };
}

export function toTime(timestamp = ""): number {
  return Date.parse(`${timestamp.replace(" ", "T")}Z`);
}
