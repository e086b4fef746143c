import { Problem } from "@platform/contract/problems";
import type { ExecutionRecord, NewExecution } from "@platform/engine/store/execution-store";
import type { HeldReason } from "@platform/engine/store/held";
import { MEGABYTE } from "@platform/engine/base/bytes";
import type { Database } from "../../postgres/database.ts";
import { FateUnknown } from "../../postgres/retry.ts";
import { toStoredResources } from "../base/columns.ts";
import { concatenate, createBatcher, toArrays } from "./batch.ts";
import type { Batcher } from "./batch.ts";
import { describeBeside, measurePools, namesObjects } from "./beside.ts";
import type { NewClaim, NewClaims } from "./claim-new.ts";
import { findEndOfTomorrow } from "./days.ts";
import type { Events } from "./events.ts";
import type { ReadHorizon } from "./queue-horizon.ts";
import { refuseEnded } from "./ended-owners.ts";
import {
  CREATE,
  CREATE_CLAIMED,
  CREATE_CLAIMED_KEYED,
  CREATE_KEYED,
  CREATE_KEYED_PINNED,
  CREATE_PINNED,
} from "./create-statement.ts";
import { findStarted } from "./idempotency-keys.ts";
import { refuseBeyondLimit, describeLeft } from "./hold.ts";
import type { QuotaRow } from "./hold.ts";
import { findExecution } from "./read.ts";
import { toNewRecord } from "./record.ts";

/**
 * Creates the batcher that stores executions. An item resolves when its execution is durable (the commit is synchronous);
 * an id that is already stored for the same owner resolves to the stored execution.
 *
 * @throws Problem NOT_SUBSCRIBED or FORBIDDEN (the owner ended meanwhile), QUOTA_EXCEEDED, RATE_LIMITED (executions at one time), CONFLICT for an id of another owner's execution, UNAVAILABLE when nothing was stored, INTERNAL_ERROR
 * when it is unknown whether it was
 */
export function createCreator(
  database: Database,
  events: Events,
  { newClaims, readHorizon }: { readonly newClaims: NewClaims; readonly readHorizon: ReadHorizon },
): Batcher<NewExecution, ExecutionRecord> {
  const batcher = createBatcher<NewExecution, Answer>({
    maxItems: 256,
    maxBytes: 8 * MEGABYTE,
    maxInFlight: 3,
    measureBytes: ({ body, references }) => body.byteLength + measurePools(references),
    keyOf: (execution) => execution.owner.id,
    flush: async (executions) => {
      const horizon = await readHorizon();
      const { created, recover } = await newClaims.offer(executions, (claim) =>
        insertExecutions(database, { origin: events.origin, horizon, claim }, executions),
      );
      announce(events, [...created.values()]);
      return Promise.all(
        executions.map((execution) =>
          answer(database, execution, {
            recover,
            row: created.get(execution.id),
            mayHaveRoom: executions.length > 1 && executions.some(({ key }) => key !== undefined),
          }),
        ),
      );
    },
  });
  return { ...batcher, add: async (execution) => addTo(batcher, execution) };
}

function announce(events: Events, created: readonly Created[]): void {
  const waiting = created.filter(({ createdAt, isClaimed }) => createdAt !== null && !isClaimed);
  if (waiting.some(({ held }) => held === null)) events.emitPending();
  if (waiting.some(({ held }) => held !== null)) events.emitHeld();
}

/** Until the execution is created or refused. */
async function addTo(
  batcher: Batcher<NewExecution, Answer>,
  execution: NewExecution,
): Promise<ExecutionRecord> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const answered = await batcher.add(execution).catch((error) => refuseUnknown(error, execution));
    if (answered instanceof Problem) throw answered;
    if (answered !== AGAIN) return answered;
  }
  throw new Problem("UNAVAILABLE");
}

/**
 * A place of the owner's quota was kept for a start of the same flush whose key turned out to be taken at the same moment: there may be
 * room for this one after all.
 */
const AGAIN = Symbol("again");
const MOST_TRIES = 5;

/** A refusal is a value here: what is thrown fails the flush, whose other executions were created. */
type Answer = ExecutionRecord | Problem | typeof AGAIN;

/** What became of one execution of a flush. */
interface Tried {
  readonly row: Created | undefined;
  /** Has what an earlier try has claimed looked for. */
  readonly recover: () => void;
  /** Whether the flush may have kept places for starts that it has not created. */
  readonly mayHaveRoom: boolean;
}

async function answer(database: Database, execution: NewExecution, tried: Tried): Promise<Answer> {
  const { row } = tried;
  if (row === undefined || row.createdAt === null) return findRepeated(database, execution, tried);
  const record = toNewRecord(execution, row.createdAt, row.held);
  const quota = row.quota && describeLeft(row.quota, row.started);
  return quota === undefined ? record : { ...record, quota };
}

/** UNAVAILABLE means that nothing was accepted: callers repeat such a start, and the execution would run twice. */
function refuseUnknown(error: unknown, { key }: NewExecution): never {
  if (!(error instanceof FateUnknown)) throw error;
  const advice =
    key === undefined
      ? "Look for it in the list of executions before starting it again."
      : "Send the request again with the same Idempotency-Key.";
  throw new Problem(
    "INTERNAL_ERROR",
    `The connection to the database was lost while the execution was being stored, so it is unknown whether it was accepted. ${advice}`,
    { cause: error },
  );
}

/** What an earlier try has created, or an earlier start with the same key; else why this one has not. */
async function findRepeated(
  database: Database,
  execution: NewExecution,
  { row, recover, mayHaveRoom }: Tried,
): Promise<Answer> {
  const { id, owner } = execution;
  const found = await findStored(database, execution).catch((error: unknown) => {
    recover();
    throw error instanceof Problem ? new FateUnknown(error) : error;
  });
  if (found !== null) {
    if (found instanceof Problem) return found;
    if (found.id !== id) return found;
    recover();
    const { isRepeated: _own, ...record } = found;
    return record;
  }
  if (row?.isOwnerEnded) return refuseEnded(owner);
  const refusal = row?.quota && refuseBeyondLimit(row.quota, row.started);
  // Its key was taken in the statement, and has grown too old since.
  const hasExpired = execution.key !== undefined;
  if (refusal === undefined && (mayHaveRoom || hasExpired)) return AGAIN;
  return refusal ?? new Problem("CONFLICT", `The id ${id} belongs to another execution.`);
}

/** A problem: the key was used with another request. */
async function findStored(
  database: Database,
  { id, owner, key }: NewExecution,
): Promise<ExecutionRecord | Problem | null> {
  if (key === undefined) return await findExecution(database, id, owner.id);
  try {
    return await findStarted(database, owner.id, key);
  } catch (error) {
    if (error instanceof Problem && error.code === "IDEMPOTENCY_CONFLICT") return error;
    throw error;
  }
}

type Row =
  | ({ readonly id: null; readonly hasEnded: false } & QuotaRow)
  | { readonly id: null; readonly hasEnded: true; readonly ownerId: string }
  | {
      readonly id: string;
      /** Milliseconds since the epoch. */
      readonly createdAt: number;
      readonly isClaimed: boolean;
      readonly held: HeldReason | null;
      readonly ownerId: string;
    };

/** `createdAt`: milliseconds since the epoch; null: not created. An owner's id only where there is a quota. */
type ClaimedRow = {
  readonly isAnyPending: boolean;
  readonly createdAt: number | null;
  /** The owner. */
  readonly hasEnded: boolean;
} & (QuotaRow | { readonly ownerId: null });

/** What the statement has done for an execution. */
interface Created {
  /** Milliseconds since the epoch; null: not created, since the id exists, a limit is reached or the owner has ended. */
  readonly createdAt: number | null;
  readonly isOwnerEnded: boolean;
  readonly isClaimed: boolean | null;
  /** Why it is not in the queue; null: it is, or was claimed. */
  readonly held: HeldReason | null;
  /** Of the owner, before the statement; missing: there is none. */
  readonly quota: QuotaRow | undefined;
  /** How many executions of the owner it has created. */
  readonly started: number;
}

/** How executions are created: in which state, and who is told by which name. */
interface Creation {
  readonly origin: string;
  readonly horizon: string;
  /** Null: they are pending. */
  readonly claim: NewClaim | null;
}

/** Inserts what is new, up to the limits of the owners. By id. */
async function insertExecutions(
  database: Database,
  creation: Creation,
  executions: readonly NewExecution[],
): Promise<ReadonlyMap<string, Created>> {
  const [execution] = executions;
  const isPinned = executions.some(namesObjects);
  const isKeyed = executions.some(({ key }) => key !== undefined);
  if (execution !== undefined && executions.length === 1 && creation.claim !== null && !isPinned) {
    const created = await insertClaimed(database, creation, execution);
    if (created !== null) return new Map([[execution.id, created]]);
  }
  const bodies = concatenate(executions.map(({ body }) => body));
  const rows = await database.query<Row>({
    ...chooseStatement(isPinned, isKeyed),
    values: [
      ...toParameters(creation),
      ...toArrays(executions.map(toColumns)),
      bodies.bytes,
      creation.origin,
      bodies.starts,
      bodies.lengths,
      executions.map(({ kept }) => kept?.result ?? null),
      executions.map(({ kept }) => kept?.log ?? null),
      executions.map(({ priority = 0 }) => priority),
      executions.map(describeRetries),
      executions.map(({ startAt }) => startAt ?? null),
      executions.map(({ limitKey }) => limitKey ?? null),
      executions.map(({ startWithinSeconds }) => startWithinSeconds ?? null),
      ...(isKeyed ? listKeys(executions) : []),
    ],
    // After a lost answer the statement is repeated; ids that the first try has committed are then left out.
    idempotent: true,
  });
  return readCreated(executions, rows);
}

function chooseStatement(
  isPinned: boolean,
  isKeyed: boolean,
): { readonly name: string; readonly text: string } {
  if (isKeyed)
    return isPinned
      ? { name: "execution-create-keyed-pinned", text: CREATE_KEYED_PINNED }
      : { name: "execution-create-keyed", text: CREATE_KEYED };
  return isPinned
    ? { name: "execution-create-pinned", text: CREATE_PINNED }
    : { name: "execution-create", text: CREATE };
}

function listKeys(executions: readonly NewExecution[]): readonly unknown[] {
  return [
    executions.map(({ key }) => key?.keyHash ?? null),
    executions.map(({ key }) => key?.requestHash ?? null),
  ];
}

/** What few starts say. */
function listChoices(execution: NewExecution): readonly unknown[] {
  const { kept, priority = 0, startWithinSeconds = null } = execution;
  return [kept?.result ?? null, kept?.log ?? null, priority, describeRetries(execution), startWithinSeconds];
}

/** Null: something is pending, and nothing was inserted. */
async function insertClaimed(
  database: Database,
  creation: Creation,
  execution: NewExecution,
): Promise<Created | null> {
  const { key } = execution;
  const [row] = await database.query<ClaimedRow>({
    ...(key === undefined
      ? { name: "execution-create-claimed", text: CREATE_CLAIMED }
      : { name: "execution-create-claimed-keyed", text: CREATE_CLAIMED_KEYED }),
    values: [
      ...toParameters(creation),
      ...toColumns(execution),
      execution.body,
      ...listChoices(execution),
      ...(key === undefined ? [] : [key.keyHash, key.requestHash]),
    ],
    idempotent: true,
  });
  if (row === undefined || row.isAnyPending) return null;
  const { createdAt, hasEnded: isOwnerEnded } = row;
  const quota = row.ownerId === null ? undefined : row;
  return {
    createdAt,
    isOwnerEnded,
    isClaimed: createdAt !== null,
    held: null,
    quota,
    started: createdAt === null ? 0 : 1,
  };
}

function toParameters({ horizon, claim }: Creation): readonly unknown[] {
  const { workerId, leaseSeconds, sandboxLevel } = claim?.request ?? {};
  return [horizon, findEndOfTomorrow(), workerId, claim?.id, leaseSeconds, sandboxLevel];
}

/** In the order of the parameters. */
function toColumns(execution: NewExecution): readonly unknown[] {
  const { id, owner, versionId, timeoutSeconds } = execution;
  const { cpu_milli, memory_milli } = toStoredResources(execution.resources);
  const beside = describeBeside(execution);
  return [
    id,
    owner.kind,
    owner.id,
    owner.organisationId,
    versionId,
    cpu_milli,
    memory_milli,
    timeoutSeconds,
    beside === null ? null : JSON.stringify(beside),
  ];
}

const NOT_CREATED = { createdAt: null, isClaimed: null, held: null } as const;

function readCreated(
  executions: readonly NewExecution[],
  rows: readonly Row[],
): ReadonlyMap<string, Created> {
  const found = new Map<string, Pick<Created, "createdAt" | "isClaimed" | "held">>();
  const quotas = new Map<string, QuotaRow>();
  const started = new Map<string, number>();
  const ended = new Set<string>();
  for (const row of rows) {
    if (row.id === null && row.hasEnded) ended.add(row.ownerId);
    else if (row.id === null) quotas.set(row.ownerId, row);
    else {
      found.set(row.id, row);
      started.set(row.ownerId, (started.get(row.ownerId) ?? 0) + 1);
    }
  }
  return new Map(
    executions.map(({ id, owner }) => {
      const { createdAt, isClaimed, held } = found.get(id) ?? NOT_CREATED;
      const of = { quota: quotas.get(owner.id), started: started.get(owner.id) ?? 0 };
      return [id, { createdAt, isClaimed, held, isOwnerEnded: ended.has(owner.id), ...of }];
    }),
  );
}

/** JSON text; null: it is never started again. */
function describeRetries({ retries }: NewExecution): string | null {
  return retries === undefined ? null : JSON.stringify(retries);
}
