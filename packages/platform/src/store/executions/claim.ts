import { readMonotonic } from "@platform/engine/base/monotonic";
import type { TraceContext } from "@platform/engine/base/trace-context";
import type { StoredRetries } from "@platform/contract/retries";
import type { PinnedInputs } from "@platform/engine/python/port/runtime";
import type {
  Claim,
  ClaimAnswer,
  ClaimRequest,
  PinnedOutput,
  PinnedTarget,
} from "@platform/engine/store/execution-store";
import type { Owner } from "@platform/engine/store/owner";
import { SECOND } from "@platform/engine/base/time";
import { createUuidV7 } from "@platform/engine/base/uuid";
import type { Database } from "../../postgres/database.ts";
import { FateUnknown } from "../../postgres/retry.ts";
import { fromStoredResources, toFreeThousandths } from "../base/columns.ts";
import { isDraining } from "../base/draining.ts";
import { ANNOTATION, OUTPUT_POOL, PERSIST_TO, TRACE, WEBHOOK_URL } from "./create-statement.ts";
import type { Events } from "./events.ts";
import { lookUp } from "./lookup.ts";
import { noteStates } from "./note-states.ts";
import { classesOf, isQueued } from "./queue-rows.ts";
import { selectRecord, toRecord } from "./record.ts";
import type { RecordRow } from "./record.ts";

/*
 * A claim whose answer is lost must not simply be repeated: the executions that it took are RUNNING, and no worker runs
 * them. Every claim therefore has an id, which it writes to the rows that it takes. After a lost answer, later calls
 * first look for rows with that id. The server may still be working on the statement after its connection broke, so
 * they keep looking for the length of a lease.
 */

interface ClaimRow extends RecordRow {
  readonly ownerKind: Owner["kind"];
  readonly organisationId: string;
  readonly timeoutSeconds: number;
  readonly attempt: number;
  readonly workerId: string;
  readonly setbacks: number;
  readonly retries: StoredRetries | null;
  readonly handle: string | null;
  readonly body: Buffer;
  readonly references:
    | (PinnedInputs & {
        readonly [PERSIST_TO]?: PinnedTarget;
        readonly [OUTPUT_POOL]?: PinnedOutput;
        readonly [TRACE]?: TraceContext;
        readonly [WEBHOOK_URL]?: string;
        readonly [ANNOTATION]?: unknown;
      })
    | null;
}

/** Claims whose answer was lost: until when to look for their rows, at least once, by claim id. Monotonic milliseconds. */
export type UnansweredClaims = Map<string, number>;

interface ClaimedRows {
  readonly rows: readonly ClaimRow[];
  readonly isDrained: boolean;
}

/**
 * `ExecutionStore.claim` for PostgreSQL; after a claim whose answer was lost, first what that one took. Use one for all claims
 * of a worker: it remembers those without an answer. Emits `changed` for each execution that it takes.
 *
 * The function throws FateUnknown when the answer was lost; call it again to get what was taken.
 */
export function createClaim(
  database: Database,
  events: Events,
  unanswered: UnansweredClaims,
): (request: ClaimRequest) => Promise<ClaimAnswer> {
  return async (request) => {
    const { rows, isDrained } = await claimRows(database, request, unanswered);
    for (const row of rows) events.emitChanged(toRecord(row));
    return { claims: rows.map(toClaim), isDrained };
  };
}

async function claimRows(
  database: Database,
  request: ClaimRequest,
  unanswered: UnansweredClaims,
): Promise<ClaimedRows> {
  for (const [claimId, until] of unanswered) {
    const rows = await recoverClaim(database, request, claimId);
    if (rows.length > 0 || readMonotonic() > until) unanswered.delete(claimId);
    if (rows.length > 0) return { rows, isDrained: false };
  }
  const claimId = createUuidV7();
  try {
    return await takePending(database, request, claimId);
  } catch (error) {
    if (error instanceof FateUnknown)
      unanswered.set(claimId, readMonotonic() + request.leaseSeconds * SECOND);
    throw error;
  }
}

const COLUMNS = `${selectRecord("c")}, c.owner_kind as "ownerKind", c.organisation_id as "organisationId", c.timeout_seconds as "timeoutSeconds", c.attempt,
  c.worker_id as "workerId", c.setbacks, c.retries, c.handle, i.body, i."references"`;

/**
 * Goes through the first `limit` executions of the queue in order and takes each that fits into the capacity that those
 * taken before it have left. An execution that does not fit is skipped and does not delay smaller ones.
 */
const describeTake = (candidates: string) => `with recursive candidate as materialized (
    -- Claims of several workers run at the same time. "for update" locks the rows and checks the conditions again on
    -- their newest version, so no two claims take one execution; "skip locked" makes each claim take other rows
    -- instead of waiting. What exceeds all free capacity is left out here and takes no place of the limit.
    select id, priority, rank, cpu_milli, memory_milli from execution e
    -- A worker that drains takes nothing: looked up once, by its key.
    where not ${isDraining("$1")} and ${candidates} limit $2 for update skip locked
  ), line as materialized (
    -- Arrays in queue order, so that the recursion can look at the n-th candidate; null when there is no candidate.
    select array_agg(id) as ids, array_agg(cpu_milli) as cpus, array_agg(memory_milli) as memories
    from (select * from candidate order by priority desc, rank, id) ordered
  ), looked (n, cpu, memory, fits) as (
    -- After n candidates: the capacity that is left, and whether the n-th was taken. Ends at once where ids is null.
    select 0, $3, $4, false
    union all
    select n + 1, case when next.fits then cpu - cpus[n + 1] else cpu end,
      case when next.fits then memory - memories[n + 1] else memory end, next.fits
    from looked, line, lateral (select cpus[n + 1] <= cpu and memories[n + 1] <= memory as fits) next
    where n < cardinality(ids)
  ), chosen as (
    select ids[n] as id from looked, line where fits
  ), claimed as (
    -- The rows are locked and PENDING, see candidate. The new attempt fences off every write of an earlier holder; the
    -- claim id is what recoverClaim looks for.
    update execution e set status = 'RUNNING', attempt = e.attempt + 1, worker_id = $1, claim_id = $6, started_at = now(),
      sandbox_level = $8,
      lease_until = now() + make_interval(secs => $5)
    from chosen where ${lookUp("e", "chosen.id")} returning e.*
  ), ${noteStates("claimed")}
  select rest.is_drained as "isDrained", ${COLUMNS}
  from (
    -- Sees the rows as they were before the update, so what was taken is left out by its id. What pauses (not_before)
    -- or is of an excluded version counts as pending: "drained" must never hide work.
    select not exists (
      select 1 from execution e where ${isQueued("e")} and e.priority between $9::smallint and $10::smallint and e.id <> all (array(select id from chosen))
    ) as is_drained
  ) rest
  -- One row even when nothing was taken.
  left join (claimed c join execution_input i on ${lookUp("i", "c.id")}) on true
  order by c.priority desc, c.rank, c.id`;

/** Its kind, as a range of the queue's index. */
const OF_KIND = "e.priority between $9::smallint and $10::smallint";
const IS_CANDIDATE = `${isQueued("e")} and ${OF_KIND} and e.cpu_milli <= $3 and e.memory_milli <= $4
      and (e.not_before is null or e.not_before <= now()) and (e.start_by is null or e.start_by > now() or e.retried > 0) and e.version_id <> all ($7::uuid[])`;

const TAKE = describeTake(`${IS_CANDIDATE} order by e.priority desc, e.rank, e.id`);
/** Takes only the execution with the id $11. A separate statement, so that it is planned as a lookup of one row. */
const TAKE_ONE = describeTake(lookUp("e", "$11::uuid", IS_CANDIDATE));

/** At least one row, for `isDrained`; its id is null when nothing was taken. */
type TakenRow = { readonly isDrained: boolean } & (ClaimRow | { readonly id: null });

async function takePending(database: Database, request: ClaimRequest, claimId: string): Promise<ClaimedRows> {
  const cpuMilli = toFreeThousandths(request.free.cpu);
  const memoryMilli = toFreeThousandths(request.free.memory);
  if (request.limit < 1 || cpuMilli < 1 || memoryMilli < 1) return { rows: [], isDrained: false };
  const { onlyId } = request;
  const rows = await database.query<TakenRow>({
    name: onlyId === undefined ? "execution-claim" : "execution-claim-one",
    text: onlyId === undefined ? TAKE : TAKE_ONE,
    values: [
      request.workerId,
      request.limit,
      cpuMilli,
      memoryMilli,
      request.leaseSeconds,
      claimId,
      request.excludedVersionIds,
      request.sandboxLevel,
      ...classesOf(request.kind ?? "service"),
      ...(onlyId === undefined ? [] : [onlyId]),
    ],
  });
  return { rows: rows.filter((row) => row.id !== null), isDrained: rows[0]?.isDrained ?? false };
}

/**
 * What a claim took whose answer was lost, with a new lease. The attempt stays: none of it has been started. What is past
 * its lease is left to the sweep, which ends it as UNKNOWN.
 */
async function recoverClaim(
  database: Database,
  request: ClaimRequest,
  claimId: string,
): Promise<readonly ClaimRow[]> {
  return database.query<ClaimRow>({
    text: `with c as (
        update execution set lease_until = now() + make_interval(secs => $3)
        where status = 'RUNNING' and lease_until > now() and worker_id = $1 and claim_id = $2 returning *
      ) select ${COLUMNS} from c join execution_input i on ${lookUp("i", "c.id")} order by c.priority desc, c.rank, c.id`,
    values: [request.workerId, claimId, request.leaseSeconds],
    idempotent: true,
  });
}

function toClaim(row: ClaimRow): Claim {
  const { id, versionId, timeoutSeconds, attempt, workerId, setbacks, body, retries, attempts, handle } = row;
  const resources = fromStoredResources(row);
  const {
    [PERSIST_TO]: persistTo,
    [OUTPUT_POOL]: outputPool,
    [TRACE]: trace,
    [WEBHOOK_URL]: _url,
    [ANNOTATION]: _note,
    ...references
  } = row.references ?? {};
  return {
    id,
    owner: { kind: row.ownerKind, id: row.ownerId, organisationId: row.organisationId },
    versionId,
    resources,
    timeoutSeconds,
    body,
    references,
    ...(persistTo === undefined ? {} : { persistTo }),
    ...(outputPool === undefined ? {} : { outputPool }),
    ...(trace === undefined ? {} : { trace }),
    ...(retries === null ? {} : { retries }),
    attempt,
    workerId,
    setbacks,
    ...(attempts === null ? {} : { attempts }),
    ...(handle === null ? {} : { handle }),
  };
}
