import { createHash } from "node:crypto";
import type { IdempotencyKey } from "@platform/engine/store/idempotency";
import type { Database } from "../postgres/database.ts";
import { ANNOTATION } from "./executions/create-statement.ts";
import { WON_ONE } from "./executions/idempotency-keys.ts";
import { lookUp } from "./executions/lookup.ts";
import { NOTED_COLUMNS, noteStates } from "./executions/note-states.ts";
import { FACTS } from "./quantum-jobs.ts";
import type { JobFacts } from "./quantum-jobs.ts";

/** A job that may have been run before. */
interface CacheQuestion {
  /** What the new job is to be called. */
  readonly id: string;
  readonly organisationId: string;
  /** Without `cacheKey`: it answers no others. */
  readonly facts: JobFacts;
  readonly cacheKey: string;
  readonly body: Uint8Array;
  readonly key: IdempotencyKey | undefined;
}

/** Results of quantum jobs that answer others. */
export interface QuantumCache {
  /**
   * Stores a job that has completed at once, with the result of the last one that has run the same. Returns the id of that one; null: there is none, or
   * the key has started something before, and nothing was stored.
   */
  readonly answer: (question: CacheQuestion) => Promise<string | null>;
}

/** Of whom results of others are: no worker has run it. */
const RUN_BY = "cache";

/** As the index execution_input_cache_key has it. */
const KEY = `${FACTS} ->> 'cacheKey'`;

/** Of so many that were started last one must have run. */
const LOOKED_AT = 100;

const PATH = `'{${ANNOTATION},cachedFrom}'`;

/**
 * Only jobs that have run are asked: what is answered from here is gone when they are. It is not metered, since nothing has run, and no event tells of
 * its beginning.
 */
const ANSWER = `with former as materialized (
    select e.*, r.has_output from (
      select i.id from execution_input i where ${KEY} = $2 and ${KEY} is not null order by i.id desc limit ${LOOKED_AT}
    ) i
    join execution e on ${lookUp("e", "i.id", "e.owner_id = $1::uuid and e.status = 'SUCCEEDED'")}
    join execution_result r on ${lookUp("r", "i.id")}
    order by i.id desc limit 1
  ), ${WON_ONE("$1::uuid, $4::uuid, $5::uuid, $3::uuid", "former where $4::uuid is not null")}, created as (
    insert into execution (id, owner_kind, owner_id, organisation_id, version_id, cpu_milli, memory_milli, timeout_seconds,
      created_at, result_days, log_days, priority, status, attempt, worker_id, started_at, ended_at, sandbox_level, session_id)
    select $3::uuid, owner_kind, owner_id, organisation_id, version_id, cpu_milli, memory_milli, timeout_seconds,
      now(), result_days, log_days, priority, 'SUCCEEDED', 1, '${RUN_BY}', now(), now(), sandbox_level, ($7::jsonb #>> '{${ANNOTATION},sessionId}')::uuid
    from former where $4::uuid is null or exists (select 1 from won) on conflict do nothing
    returning ${NOTED_COLUMNS}
  ), ${noteStates("created")}, bodies as (
    insert into execution_input (id, body, "references")
    select created.id, $6::bytea, jsonb_set($7::jsonb, ${PATH}, to_jsonb(former.id::text)) from created cross join former
  ), results as (
    insert into execution_result (id, result, metadata, has_output)
    select created.id, r.result, r.metadata, r.has_output
    from created cross join former join execution_result r on ${lookUp("r", "former.id")}
  ), outputs as (
    insert into execution_output (execution_id, name, hash, bytes, organisation_id)
    select created.id, o.name, o.hash, o.bytes, o.organisation_id
    from created cross join former join execution_output o on o.execution_id = former.id
  )
  select former.id from created cross join former`;

/** By what a job is found when another one would run the same; `digest`: of that. Nobody else's jobs are in the same part of the index. */
export function toCacheKey(organisationId: string, digest: string): string {
  return createHash("sha256").update(`${organisationId} ${digest}`).digest("base64url");
}

/** The cache in PostgreSQL: an index of what the inputs of jobs have beside them. */
export function createQuantumCache(database: Pick<Database, "query">): QuantumCache {
  return {
    answer: async ({ id, organisationId, facts, cacheKey, body, key }) => {
      const [row] = await database.query<{ readonly id: string }>({
        name: "quantum-cache-answer",
        text: ANSWER,
        values: [
          organisationId,
          cacheKey,
          id,
          key?.keyHash ?? null,
          key?.requestHash ?? null,
          body,
          JSON.stringify({ [ANNOTATION]: facts }),
        ],
      });
      return row?.id ?? null;
    },
  };
}
