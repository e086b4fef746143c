import { readMonotonic } from "@platform/engine/base/monotonic";
import type {
  Claim,
  ClaimAnswer,
  ClaimRequest,
  InputReferences,
} from "@platform/engine/store/execution-store";
import type { Owner } from "@platform/engine/store/owner";
import { SECOND } from "@platform/engine/base/time";
import { createUuidV7 } from "@platform/engine/base/uuid";
import type { Database } from "../../postgres/database.ts";
import { FateUnknown } from "../../postgres/retry.ts";
import { fromStoredResources, toFreeThousandths } from "../base/columns.ts";
import type { Events } from "./events.ts";
import { selectRecord, toRecord } from "./record.ts";
import type { RecordRow } from "./record.ts";

/*
 * A claim is not repeated blindly: when its answer is lost, the executions that it took are RUNNING with nobody to run
 * them. Every claim carries an id; after a lost answer the next thing asked is what that id holds. A statement whose
 * connection broke may go on in the server for a while, so that is asked for as long as what it takes has a lease.
 */

export interface Claimer {
  readonly claim: (request: ClaimRequest) => Promise<ClaimAnswer>;
}

interface ClaimRow extends RecordRow {
  readonly ownerKind: Owner["kind"];
  readonly organisationId: string;
  readonly timeoutSeconds: number;
  readonly attempt: number;
  readonly workerId: string;
  readonly setbacks: number;
  readonly body: Buffer;
  readonly references: InputReferences | null;
}

interface Taken {
  readonly rows: readonly ClaimRow[];
  readonly isDrained: boolean;
}

export function createClaimer(database: Database, events: Events): Claimer {
  /** Until when to ask for what it took, by claim id; monotonic milliseconds. */
  const unanswered = new Map<string, number>();
  return {
    claim: async (request) => {
      const { rows, isDrained } = await claimRows(database, request, unanswered);
      for (const row of rows) events.emitChanged(toRecord(row));
      return { claims: rows.map(toClaim), isDrained };
    },
  };
}

async function claimRows(
  database: Database,
  request: ClaimRequest,
  unanswered: Map<string, number>,
): Promise<Taken> {
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
  c.worker_id as "workerId", c.setbacks, i.body, i."references"`;

/**
 * The candidates are looked at in their order, each taking of the free capacity what it needs where that is left: one that
 * does not fit beside those before it keeps no smaller one waiting.
 */
const describeTake = (candidates: string) => `with recursive candidate as materialized (
    select id, priority, rank, cpu_milli, memory_milli from execution
    where status = 'PENDING' and cpu_milli <= $3 and memory_milli <= $4
      and (not_before is null or not_before <= now()) and version_id <> all ($7::uuid[])
      ${candidates}
    order by priority desc, rank, id limit $2 for update skip locked
  ), line as materialized (
    select array_agg(id) as ids, array_agg(cpu_milli) as cpus, array_agg(memory_milli) as memories
    from (select * from candidate order by priority desc, rank, id) ordered
  ), looked (n, cpu, memory, fits) as (
    select 0, $3, $4, false
    union all
    select n + 1, case when room.fits then cpu - cpus[n + 1] else cpu end,
      case when room.fits then memory - memories[n + 1] else memory end, room.fits
    from looked, line, lateral (select cpus[n + 1] <= cpu and memories[n + 1] <= memory as fits) room
    where n < cardinality(ids)
  ), chosen as (
    select ids[n] as id from looked, line where fits
  ), claimed as (
    update execution e set status = 'RUNNING', attempt = e.attempt + 1, worker_id = $1, claim_id = $6, started_at = now(),
      lease_until = now() + make_interval(secs => $5)
    from chosen where e.id = chosen.id returning e.*
  )
  select rest.is_drained as "isDrained", ${COLUMNS}
  from (
    select not exists (
      select 1 from execution where status = 'PENDING' and id <> all (array(select id from chosen))
    ) as is_drained
  ) rest left join (claimed c join execution_input i on i.id = c.id) on true
  order by c.priority desc, c.rank, c.id`;

const TAKE = describeTake("");
/** A statement of its own, so that it is planned as a lookup of one row. */
const TAKE_ONE = describeTake("and id = $8");

/** One row at least, since it also says whether anything else is pending; without an id nothing was taken. */
type TakenRow = { readonly isDrained: boolean } & (ClaimRow | { readonly id: null });

async function takePending(database: Database, request: ClaimRequest, claimId: string): Promise<Taken> {
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
      ...(onlyId === undefined ? [] : [onlyId]),
    ],
  });
  return { rows: rows.filter((row) => row.id !== null), isDrained: rows[0]?.isDrained ?? false };
}

/** What a claim whose answer was lost did take, with a new lease. */
async function recoverClaim(
  database: Database,
  request: ClaimRequest,
  claimId: string,
): Promise<readonly ClaimRow[]> {
  return database.query<ClaimRow>({
    text: `with c as (
        update execution set lease_until = now() + make_interval(secs => $3)
        where status = 'RUNNING' and lease_until > now() and worker_id = $1 and claim_id = $2 returning *
      ) select ${COLUMNS} from c join execution_input i on i.id = c.id order by c.priority desc, c.rank, c.id`,
    values: [request.workerId, claimId, request.leaseSeconds],
    idempotent: true,
  });
}

function toClaim(row: ClaimRow): Claim {
  const { id, versionId, timeoutSeconds, attempt, workerId, setbacks, body } = row;
  const resources = fromStoredResources(row);
  return {
    id,
    owner: { kind: row.ownerKind, id: row.ownerId, organisationId: row.organisationId },
    versionId,
    resources,
    timeoutSeconds,
    body,
    references: row.references ?? {},
    attempt,
    workerId,
    setbacks,
  };
}
