import { createHash } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { isFinal } from "@platform/contract/execution";
import { FAILURES, Problem } from "@platform/contract/problems";
import { LOCAL_SERVICE_API } from "@platform/contract/local-service-api";
import type { Executions } from "@platform/engine/executions/executions";
import { toRoutePath } from "@platform/engine/http/methods";
import { dropOutput, getOutput } from "@platform/engine/python/port/run-output";
import type { Outcome, PythonRuntime } from "@platform/engine/python/port/runtime";
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
  readonly wrapRuntime: (runtime: PythonRuntime) => PythonRuntime;
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
  const lot = createLot(options);
  const fates = createFates(options, lot);
  return {
    wrapStore: (store) => wrapStore(store, fates),
    wrapRuntime: (runtime) => wrapRuntime(runtime, fates),
    wrapExecutions: (executions) => wrapExecutions(executions, fates),
    addHooks: (app) => addHooks(app, options, lot),
  };
}

/** Decides whom a fault befalls. */
interface Lot {
  /** Whether it befalls the next of those that it can befall. */
  readonly draw: (fault: Fault) => boolean;
  /** Whether it befalls this attempt of the nth execution; the first attempt has the fate of the execution. */
  readonly drawAttempt: (fault: Fault, count: number, attempt: number) => boolean;
}

function createLot({ seed }: FaultOptions): Lot {
  const counts = new Map<string, number>();
  const isBelow = (text: string, share: number) =>
    createHash("sha256").update(`${seed} ${text}`).digest().readUInt32BE() / 2 ** 32 < share;
  return {
    draw: ({ name, share }) => {
      const count = (counts.get(name) ?? 0) + 1;
      counts.set(name, count);
      return isBelow(`${name} ${count}`, share);
    },
    drawAttempt: ({ name, share }, count, attempt) => isBelow(`${name} ${count} ${attempt}`, share),
  };
}

interface Fates {
  /** Decides what befalls a new execution. */
  readonly decide: (id: string) => void;
  readonly find: (id: string, does: "delay" | "expire") => Fault | undefined;
  /** What replaces the outcome of an attempt; the first is 1. */
  readonly findEnd: (id: string, attempt: number) => EndFault | undefined;
  /** The same as `find`, and it befalls it no more. */
  readonly take: (id: string, does: "delay") => Fault | undefined;
}

/** A fault that replaces an outcome. */
type EndFault = Fault & { readonly kind: Extract<Fault["kind"], { readonly does: "end" }> };

/** What befalls an execution, and the how many-th it is. */
interface Fate {
  readonly count: number;
  readonly faults: readonly Fault[];
}

const isEnd = (fault: Fault): fault is EndFault => fault.kind.does === "end";

function createFates({ faults, onFault }: FaultOptions, { draw, drawAttempt }: Lot): Fates {
  const ofExecutions = faults.filter(({ kind }) => kind.to === "execution");
  const fates = new Map<string, Fate>();
  let count = 0;
  const find: Fates["find"] = (id, does) => fates.get(id)?.faults.find(({ kind }) => kind.does === does);
  return {
    find,
    findEnd: (id, attempt) => {
      const fate = fates.get(id);
      if (fate === undefined || attempt <= 1) return fate?.faults.find(isEnd);
      const fault = ofExecutions.filter(isEnd).find((each) => drawAttempt(each, fate.count, attempt));
      if (fault !== undefined) onFault(fault.name, `${id}, attempt ${attempt}`);
      return fault;
    },
    decide: (id) => {
      if (fates.has(id)) return;
      // All are drawn, so that none depends on what befell the execution before.
      const drawn = ofExecutions.filter((fault) => draw(fault));
      for (const { name } of drawn) onFault(name, id);
      fates.set(id, { count: (count += 1), faults: drawn });
      const [oldest] = fates.keys();
      if (fates.size > MAX_FATES && oldest !== undefined) fates.delete(oldest);
    },
    take: (id, does) => {
      const [fault, fate] = [find(id, does), fates.get(id)];
      if (fault !== undefined && fate !== undefined)
        fates.set(id, { ...fate, faults: fate.faults.filter((other) => other !== fault) });
      return fault;
    },
  };
}

/** Code is not run before a late start. */
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
  };
}

/** Code runs, and its outcome is replaced before anything is decided by it: clients see what a platform shows them, another attempt included. */
function wrapRuntime(runtime: PythonRuntime, fates: Fates): PythonRuntime {
  return {
    ...runtime,
    run: (request) => {
      const run = runtime.run(request);
      const outcome = run.outcome.then((answer) => {
        const fault =
          answer.status === "NOT_STARTED"
            ? undefined
            : fates.findEnd(request.executionId, request.attempt ?? 1);
        if (fault === undefined) return answer;
        dropOutput(getOutput(answer));
        return describeEnd(fault);
      });
      return { ...run, outcome };
    },
  };
}

function describeEnd({ kind: { code } }: EndFault): Outcome {
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

function addHooks(app: FastifyInstance, options: FaultOptions, { draw }: Lot): void {
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
