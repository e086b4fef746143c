import type {
  ClaimAnswer,
  ClaimNew,
  ClaimRequest,
  ExecutionStore,
  NewExecution,
} from "@platform/engine/store/execution-store";
import { kindOf } from "@platform/engine/store/kinds";
import { createDeferred } from "@platform/engine/base/deferred";
import type { Deferred } from "@platform/engine/base/deferred";
import { readMonotonic } from "@platform/engine/base/monotonic";
import { KILOBYTE } from "@platform/engine/base/bytes";
import { SECOND } from "@platform/engine/base/time";
import { createUuidV7 } from "@platform/engine/base/uuid";
import { FateUnknown } from "../../postgres/retry.ts";
import { toFreeThousandths, toStoredResources } from "../base/columns.ts";
import type { UnansweredClaims } from "./claim.ts";
import type { Events } from "./events.ts";
import { toNewRecord } from "./record.ts";

/*
 * A start that finds an idle worker in its own process is stored as claimed by it. Otherwise it would be written twice and be
 * flushed to disk twice before its code begins. The executions of one flush are claimed all or not at all.
 */

/** A worker makes one claim at a time: it must not wait for a flush of large bodies. */
const MAX_BYTES = 64 * KILOBYTE;

/** The claim of executions that are being created. `id` is the claim id (claim.ts). */
export interface NewClaim {
  readonly id: string;
  readonly request: ClaimRequest;
}

/** What is known of an execution after the statement. */
interface CreatedRow {
  /** Milliseconds since the epoch; null: not created by this statement. */
  readonly createdAt: number | null;
  readonly isClaimed: boolean | null;
}

type Created<Row> = ReadonlyMap<string, Row>;

/** Brings together who creates executions and who would claim them. */
export interface NewClaims {
  readonly subscribe: NonNullable<ExecutionStore["onCreate"]>;
  /**
   * Calls `create` with the claim of a worker that takes all of these, or with null, and then answers the worker. `recover`: to be called
   * where an execution turned out to be there already, since a try whose answer was lost may have claimed it.
   */
  readonly offer: <Row extends CreatedRow>(
    executions: readonly NewExecution[],
    create: (claim: NewClaim | null) => Promise<Created<Row>>,
  ) => Promise<{ readonly created: Created<Row>; readonly recover: () => void }>;
}

interface Offer extends NewClaim {
  readonly answer: Deferred<ClaimAnswer>;
}

const NOTHING: ClaimAnswer = { claims: [], isDrained: false };

/** @param unanswered gets the claims of which it is unknown whether they were written */
export function createNewClaims(events: Events, unanswered: UnansweredClaims): NewClaims {
  const listeners = new Set<(claim: ClaimNew) => void>();
  return {
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    offer: async (executions, create) => {
      const offer = askListeners(listeners, executions);
      if (offer === null) return { created: await create(null), recover: () => undefined };
      try {
        const created = await create(offer);
        offer.answer.resolve(describeAnswer(events, executions, created, offer.request));
        return { created, recover: () => lookFor(offer.id, readMonotonic()) };
      } catch (error) {
        if (error instanceof FateUnknown)
          lookFor(offer.id, readMonotonic() + offer.request.leaseSeconds * SECOND);
        offer.answer.resolve(NOTHING);
        throw error;
      }
    },
  };

  /** Makes this worker claim, which begins with what is looked for. */
  function lookFor(claimId: string, until: number): void {
    unanswered.set(claimId, until);
    events.emitPending();
  }
}

function askListeners(
  listeners: ReadonlySet<(claim: ClaimNew) => void>,
  executions: readonly NewExecution[],
): Offer | null {
  const offers: Offer[] = [];
  const claim: ClaimNew = (request) => {
    if (offers.length > 0 || !isEnough(request, executions)) return null;
    const answer = createDeferred<ClaimAnswer>();
    offers.push({ id: createUuidV7(), request, answer });
    return answer.promise;
  };
  for (const listener of listeners) listener(claim);
  return offers[0] ?? null;
}

function isEnough(request: ClaimRequest, executions: readonly NewExecution[]): boolean {
  const { kind = "service", limit, free, excludedVersionIds, onlyId } = request;
  let cpu = toFreeThousandths(free.cpu);
  let memory = toFreeThousandths(free.memory);
  let bytes = MAX_BYTES;
  for (const { resources, priority = 0, body, versionId, startAt, limitKey } of executions) {
    if (kindOf(priority) !== kind) return false;
    // By the clock of the database it may be held.
    if (startAt !== undefined || limitKey !== undefined) return false;
    const { cpu_milli, memory_milli } = toStoredResources(resources);
    cpu -= cpu_milli;
    memory -= memory_milli;
    bytes -= body.byteLength;
    if (excludedVersionIds.includes(versionId)) return false;
  }
  return onlyId === undefined && executions.length <= limit && cpu >= 0 && memory >= 0 && bytes >= 0;
}

function describeAnswer(
  events: Events,
  executions: readonly NewExecution[],
  created: Created<CreatedRow>,
  request: ClaimRequest,
): ClaimAnswer {
  const { workerId, sandboxLevel } = request;
  // Each once, also where one was created twice at the same time.
  const unique = [...new Map(executions.map((execution) => [execution.id, execution])).values()];
  const claimed = unique.flatMap((execution) => {
    const { createdAt = null, isClaimed = false } = created.get(execution.id) ?? {};
    if (createdAt === null || isClaimed !== true) return [];
    const record = toNewRecord(execution, createdAt, null);
    events.emitChanged({ ...record, status: "RUNNING", startedAt: createdAt, sandboxLevel });
    const { key: _key, ...claimed } = execution;
    return [{ ...claimed, resources: record.resources, attempt: 1, workerId, setbacks: 0 }];
  });
  return { claims: claimed, isDrained: claimed.length === unique.length };
}
