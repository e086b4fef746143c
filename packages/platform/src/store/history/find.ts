import { isUuid } from "@platform/engine/base/uuid";
import type { Database } from "../../postgres/database.ts";
import { mayBeMoved } from "../executions/kept.ts";
import { lookUp } from "../executions/lookup.ts";
import { describePreparing } from "../executions/preparing.ts";
import { IS_OF_ORGANISATION, KIND, NAMES } from "./scope.ts";
import type { Asker } from "./scope.ts";
import { selectEntry } from "./list.ts";
import type { HistoryEntry } from "./list.ts";

/** An execution that concerns the asker, and what is known of its run. */
export interface HistoryDetails extends HistoryEntry {
  /** Names it in the store of executions. */
  readonly ownerId: string;
  readonly detail: string | null;
  /** Null, like the next ones: of one that is kept for longer than its day, nothing of the kind is. */
  readonly attempt: number | null;
  readonly workerId: string | null;
  readonly cpuMicros: number | null;
  readonly isCancelRequested: boolean;
  /** Whether its worker still prepares it. */
  readonly isPreparing: boolean;
  readonly timeoutSeconds: number;
  /** Null: it is not kept any more. */
  readonly inputBytes: number | null;
  /** Null: there is none. */
  readonly resultBytes: number | null;
  readonly fileCount: number;
  /** Whether the asker may read its log. */
  readonly isLogShown: boolean;
  /** Of its result, as JSON, where it has a moderate size. */
  readonly metadata: Buffer | null;
  /** Of its failure. */
  readonly failureMetadata: unknown;
}

/** Longer metadata is not looked into. */
const MOST_METADATA_BYTES = 65_536;

/** Files besides a result that is kept as one (executions/finish.ts). */
const OUTPUT = `(select count(*) filter (where f.name <> '')::int as files, sum(f.bytes) filter (where f.name = '') as bytes
    from execution_output f where f.execution_id = $2::uuid)`;

/** A subscriber decides about its provider, a provider (`logs` of the service) about subscribers of other organisations. */
const IS_LOG_SHOWN = `case ${KIND} when 'job' then true when 'outgoing' then s.logs = 'caller' or s.organisation_id = $1::uuid
    else b.shares_logs end`;

const describeFind = (
  tables: { readonly executions: string; readonly results: string },
  more: string,
) => `select ${selectEntry("$3")}, e.owner_id as "ownerId", e.failure_detail as detail, ${more},
    coalesce(output.bytes, octet_length(r.result))::float8 as "resultBytes", output.files as "fileCount",
    ${IS_LOG_SHOWN} as "isLogShown", e.failure_metadata as "failureMetadata",
    case when octet_length(r.metadata) <= ${MOST_METADATA_BYTES} then r.metadata end as metadata
  from ${tables.executions} e ${NAMES} left join ${tables.results} r on ${lookUp("r", "$2::uuid")}
    cross join ${OUTPUT} output
  where ${lookUp("e", "$2::uuid", IS_OF_ORGANISATION)}`;

const FIND = {
  name: "history-find",
  text: describeFind(
    { executions: "execution", results: "execution_result" },
    `e.attempt, e.worker_id as "workerId", e.cpu_micros::float8 as "cpuMicros", e.cancel_requested as "isCancelRequested",
    ${describePreparing("e")} as "isPreparing", e.timeout_seconds as "timeoutSeconds",
    (select octet_length(i.body) from execution_input i where ${lookUp("i", "$2::uuid")}) as "inputBytes"`,
  ),
} as const;
const FIND_KEPT = {
  name: "history-find-kept",
  text: describeFind(
    { executions: "kept_execution", results: "kept_result" },
    `null::int as attempt, null::text as "workerId", null::float8 as "cpuMicros", false as "isCancelRequested",
    false as "isPreparing", v.timeout_seconds as "timeoutSeconds", null::int as "inputBytes"`,
  ),
} as const;

/** Null: there is none that concerns the organisation. */
export async function findHistory(
  database: Pick<Database, "query">,
  { organisationId, areSubscribersShown }: Asker,
  id: string,
): Promise<HistoryDetails | null> {
  if (!isUuid(id)) return null;
  const values = [organisationId, id, areSubscribersShown];
  for (const statement of mayBeMoved(id) ? [FIND, FIND_KEPT] : [FIND]) {
    const [row] = await database.query<HistoryDetails>({ ...statement, values, idempotent: true });
    if (row !== undefined) return row;
  }
  return null;
}

/** Where an execution is found. */
export interface HistoryLocation extends Pick<HistoryEntry, "kind"> {
  readonly organisationId: string;
  readonly slug: string;
}

const describeLocate = (
  table: string,
) => `select m.organisation_id as "organisationId", org.slug, ${KIND.replaceAll("$1::uuid", "m.organisation_id")} as kind
  from ${table} e ${NAMES} join member m on m.user_id = $1::uuid and m.organisation_id in (e.owner_id, a.organisation_id, case when b.id is not null then s.organisation_id end)
    join organisation org on org.id = m.organisation_id and org.deleted_at is null
  where ${lookUp("e", "$2::uuid")} order by (m.organisation_id = s.organisation_id and m.organisation_id is distinct from coalesce(a.organisation_id, e.owner_id)) limit 1`;

/** The organisation of the user's that an execution is of, rather than one whose service it is of; null: there is none. */
export async function locateExecution(
  database: Pick<Database, "query">,
  userId: string,
  id: string,
): Promise<HistoryLocation | null> {
  if (!isUuid(id)) return null;
  for (const table of mayBeMoved(id) ? ["execution", "kept_execution"] : ["execution"]) {
    const [row] = await database.query<HistoryLocation>({
      text: describeLocate(table),
      values: [userId, id],
      idempotent: true,
    });
    if (row !== undefined) return row;
  }
  return null;
}
