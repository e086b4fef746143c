import { createHash } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { isFinal } from "@platform/contract/execution";
import { FAILURES, Problem } from "@platform/contract/problems";
import { LOCAL_SERVICE_API } from "@platform/contract/local-service-api";
import type { Executions } from "@platform/engine/executions/executions";
import { toRoutePath } from "@platform/engine/http/methods";
import type { Outcome } from "@platform/engine/python/port/runtime";
import type { ExecutionStore } from "@platform/engine/store/execution-store";
import { SECOND } from "@platform/engine/base/time";
import { pause } from "../base/wait.ts";
import type { Fault } from "./fault-table.ts";

/*
 * Faults for those who write clients. Whether one befalls the nth request or execution is decided by the seed, its name and n alone:
 * the same starts in the same order have the same fates, whatever else is asked in between.
 */

/** Which faults, and what decides whom they befall. */
export interface FaultOptions {
  readonly faults: readonly Fault[];
  readonly seed: number;
  /** Called with each fault that befalls something. */
  readonly onFault: (name: string, whom: string) => void;
  /** Ends delays. */
  readonly signal: AbortSignal;
}

/** What stands between the parts of the local server. */
export interface FaultInjection {
  readonly wrapStore: (store: ExecutionStore) => ExecutionStore;
  readonly wrapExecutions: (executions: Executions) => Executions;
  /** To be called before the routes are registered. */
  readonly addHooks: (app: FastifyInstance) => void;
}

/** Of the newest executions it is known what befalls them. */
const MAX_FATES = 20_000;
const RETRY_AFTER = { "retry-after": "1" } as const;
const ROUTES: ReadonlySet<string | undefined> = new Set(
  Object.values(LOCAL_SERVICE_API).map(({ path }) => toRoutePath(path)),
);

/** Injects nothing where there are no faults. */
export function createFaultInjection(options: FaultOptions): FaultInjection {
  const draw = createLot(options);
  const fates = createFates(options, draw);
  return {
    wrapStore: (store) => wrapStore(store, fates),
    wrapExecutions: (executions) => wrapExecutions(executions, fates),
    addHooks: (app) => addHooks(app, options, draw),
  };
}

/** Whether a fault befalls the next of those that it can befall. */
type Lot = (fault: Fault) => boolean;

function createLot({ seed }: FaultOptions): Lot {
  const counts = new Map<string, number>();
  return ({ name, share }) => {
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    const hash = createHash("sha256").update(`${seed} ${name} ${count}`).digest();
    return hash.readUInt32BE() / 2 ** 32 < share;
  };
}

interface Fates {
  /** Decides what befalls a new execution. */
  readonly decide: (id: string) => void;
  readonly find: (id: string, does: "delay" | "expire" | "end") => Fault | undefined;
  /** The same, and it befalls it no more. */
  readonly take: (id: string, does: "delay" | "end") => Fault | undefined;
}

function createFates({ faults, onFault }: FaultOptions, draw: Lot): Fates {
  const ofExecutions = faults.filter(({ kind }) => kind.to === "execution");
  const fates = new Map<string, readonly Fault[]>();
  const find: Fates["find"] = (id, does) => fates.get(id)?.find(({ kind }) => kind.does === does);
  return {
    find,
    decide: (id) => {
      if (fates.has(id)) return;
      // All are drawn, so that none depends on what befell the execution before.
      const drawn = ofExecutions.filter((fault) => draw(fault));
      for (const { name } of drawn) onFault(name, id);
      fates.set(id, drawn);
      const [oldest] = fates.keys();
      if (fates.size > MAX_FATES && oldest !== undefined) fates.delete(oldest);
    },
    take: (id, does) => {
      const fault = find(id, does);
      if (fault !== undefined) fates.set(id, fates.get(id)?.filter((other) => other !== fault) ?? []);
      return fault;
    },
  };
}

/** Code is not run before a late start, and its outcome is replaced after it: clients see what a platform shows them. */
function wrapStore(store: ExecutionStore, fates: Fates): ExecutionStore {
  return {
    ...store,
    create: async (execution) => {
      fates.decide(execution.id);
      return await store.create(execution);
    },
    claim: async (request) => {
      const { claims, isDrained } = await store.claim(request);
      const late = claims.map((claim) => ({ claim, fault: fates.take(claim.id, "delay") }));
      for (const { claim, fault } of late)
        if (fault !== undefined) await store.giveBack(claim, fault.durationMs / SECOND);
      const kept = late.flatMap(({ claim, fault }) => (fault === undefined ? [claim] : []));
      return { claims: kept, isDrained: isDrained && kept.length === claims.length };
    },
    finish: async (claim, outcome) => {
      const fault = fates.find(claim.id, "end");
      return await store.finish(claim, fault === undefined ? outcome : replaceOutcome(fault, outcome));
    },
  };
}

function replaceOutcome({ kind }: Fault, outcome: Outcome): Outcome {
  if (kind.does !== "end") return outcome;
  const { code } = kind;
  const detail = `${FAILURES[code]} (--fault)`;
  return code === "WORKER_LOST" ? { status: "UNKNOWN", code, detail } : { status: "FAILED", code, detail };
}

/** What expires is gone between the state that says it has ended and the request for the result. */
function wrapExecutions(executions: Executions, fates: Fates): Executions {
  const requireKept = (id: string) => {
    if (fates.find(id, "expire") !== undefined) throw new Problem("RESULT_EXPIRED");
  };
  return {
    ...executions,
    result: async (id, ownerId) => {
      const result = await executions.result(id, ownerId);
      requireKept(id);
      return result;
    },
    digests: async (id, ownerId) => {
      const digests = await executions.digests(id, ownerId);
      requireKept(id);
      return digests;
    },
    log: async (id, ownerId, cursor) => {
      if (isFinal((await executions.state(id, ownerId)).status)) requireKept(id);
      return await executions.log(id, ownerId, cursor);
    },
  };
}

function addHooks(app: FastifyInstance, options: FaultOptions, draw: Lot): void {
  const faults = options.faults.filter(({ kind }) => kind.to === "request");
  if (faults.length === 0) return;
  const dropped = new WeakSet<FastifyRequest>();
  app.addHook("onRequest", async (request) => {
    if (!ROUTES.has(request.routeOptions.url)) return;
    for (const fault of faults) {
      if (!concerns(fault, request) || !draw(fault)) continue;
      options.onFault(fault.name, `${request.method} ${request.url}`);
      await befall(fault, options.signal, () => dropped.add(request));
    }
  });
  app.addHook("onSend", async (request, reply) => {
    if (dropped.has(request) && reply.statusCode === 201) request.raw.socket.destroy();
  });
}

function concerns({ kind }: Fault, { method }: FastifyRequest): boolean {
  const isOfStarts = kind.to === "request" && "only" in kind;
  return !isOfStarts || method === "POST";
}

/** @throws Problem that the fault stands for */
async function befall({ kind, durationMs }: Fault, signal: AbortSignal, drop: () => void): Promise<void> {
  if (kind.does === "delay") await pause(durationMs, signal);
  if (kind.does === "drop answer") drop();
  if (kind.does !== "refuse") return;
  const { code } = kind;
  throw new Problem(code, undefined, { headers: code === "UNAUTHENTICATED" ? CHALLENGE : RETRY_AFTER });
}

/** As the gateway answers an access token that has expired. */
const CHALLENGE = { "www-authenticate": 'Bearer realm="services", error="invalid_token"' } as const;
