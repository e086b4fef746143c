import type { BackendDescription } from "@platform/contract/quantum-api/description";
import { BACKEND_PRIORITY } from "@platform/engine/store/kinds";
import type { Database } from "../postgres/database.ts";
import { createBackendQueues } from "./backend-queues.ts";
import { selectMilliseconds } from "./base/columns.ts";
import { describeGrantedVersion, toGrantedVersion } from "./access.ts";
import type { GrantedVersion, StoredVersion } from "./access.ts";
import { TAKES_WORK } from "./executions/workers.ts";
import { IS_SHARED, LATEST_VERSION, NAMED_BACKENDS } from "./platform-backends.ts";

/** A backend that an organisation may use: what its latest live version says, and what it runs jobs with. */
export interface BackendRecord {
  readonly id: string;
  readonly serviceKey: string;
  /** The backend that the id is another name of; null: none. */
  readonly aliasOf: string | null;
  readonly description: BackendDescription;
  /** The version that runs new jobs, and when it was made, in milliseconds since the epoch. */
  readonly version: GrantedVersion;
  readonly versionedAt: number;
  /** Whether the organisation has a budget in the currency of its price, or one that was removed, which goes on counting. */
  readonly hasBudget: boolean;
}

/** How busy a backend is. */
export interface BackendLoad {
  /** Jobs that wait, of all versions and organisations (backend-queues.ts). */
  readonly waiting: number;
  /** Median wait of the last jobs of the organisation in seconds; null: none has run. */
  readonly typicalWaitSeconds: number | null;
  /** Whether a worker runs executions of backends. */
  readonly isServed: boolean;
}

/** Of those that succeeded among so many of all backends the median wait is taken. */
const LOOKED_AT = 500;
/** Backends of one organisation that are listed. */
const MOST_LISTED = 1_000;

/** Backends: services whose latest live version describes itself as one, of the organisation or shared with all (platform-backends.ts). */
export interface BackendStore {
  /** By id. */
  readonly list: (organisationId: string) => Promise<readonly BackendRecord[]>;
  readonly find: (organisationId: string, id: string) => Promise<BackendRecord | null>;
  /** Whether there is one, of any organisation. */
  readonly isAny: () => Promise<boolean>;
  /** By the key of the service, of these that the organisation may use. */
  readonly readLoad: (
    organisationId: string,
    serviceKeys: readonly string[],
  ) => Promise<ReadonlyMap<string, BackendLoad>>;
}

/** A BackendRecord as statements return it. */
export interface BackendRow extends Omit<BackendRecord, "version"> {
  readonly version: StoredVersion;
}

/** SQL: the columns of a BackendRow but for its id and alias, from a version `v` of a service `s`; $1 is the organisation. */
export const BACKEND_COLUMNS = `s.key as "serviceKey", v.backend -> 'description' as description,
    ${describeGrantedVersion("v", "s")} as version, ${selectMilliseconds("v.created_at")} as "versionedAt",
    exists (select 1 from quantum_budget q where q.organisation_id = $1::uuid and q.currency = v.backend #>> '{description,price,currency}') as "hasBudget"`;

const select = (
  condition: string,
) => `select distinct on (b.id) b.id, b.alias_of as "aliasOf", ${BACKEND_COLUMNS}
  from ${NAMED_BACKENDS} b join service s on s.key = b.service_key cross join lateral ${LATEST_VERSION} v
  where v.backend is not null and ${condition}
  order by b.id, b.place limit ${MOST_LISTED}`;

/**
 * The class names the index of quantum jobs, which is gone through once, however many backends are asked for: with many of both, a list that counts
 * for each would cost their product. Of 200,000 jobs 500 are read: 2 ms and 260 buffers (2026-11-29, two shared cores).
 */
const LOAD = `with last as materialized (
    select v.service_key, percentile_disc(0.5) within group (order by extract(epoch from e.started_at - e.created_at))::float8 as waited from (
      select e.* from execution e where e.owner_id = $1::uuid and e.priority = ${BACKEND_PRIORITY} order by e.id desc limit ${LOOKED_AT}
    ) e join version v on v.id = e.version_id where e.status = 'SUCCEEDED' and v.service_key = any ($2::uuid[]) group by 1
  )
  select s.key as "serviceKey", last.waited as "typicalWaitSeconds",
    exists (select 1 from worker w where ${TAKES_WORK} and w.kind = 'backend') as "isServed"
  from service s left join last on last.service_key = s.key
  where s.key = any ($2::uuid[]) and (s.organisation_id = $1::uuid or ${IS_SHARED})`;

/** The store of backends in PostgreSQL. */
export function createBackendStore(database: Database): BackendStore {
  const queues = createBackendQueues(database);
  return {
    list: async (organisationId) => {
      const rows = await database.query<BackendRow>({
        text: select("true"),
        values: [organisationId],
        idempotent: true,
      });
      return rows.map(toBackendRecord);
    },
    find: async (organisationId, id) => {
      const [row] = await database.query<BackendRow>({
        name: "backend-find",
        text: select("b.id = $2"),
        values: [organisationId, id],
        idempotent: true,
      });
      return row === undefined ? null : toBackendRecord(row);
    },
    isAny: async () => {
      const [row] = await database.query<{ readonly is: boolean }>({
        name: "backend-any",
        text: "select exists (select 1 from service where backend_id is not null) as is",
        idempotent: true,
      });
      return row?.is === true;
    },
    readLoad: async (organisationId, serviceKeys) => {
      const waiting = await queues.read();
      const rows = await database.query<Omit<BackendLoad, "waiting"> & { readonly serviceKey: string }>({
        text: LOAD,
        values: [organisationId, serviceKeys],
        idempotent: true,
      });
      return new Map(
        rows.map(({ serviceKey, ...load }) => [
          serviceKey,
          { ...load, waiting: waiting.get(serviceKey) ?? 0 },
        ]),
      );
    },
  };
}

/** A backend, of its row. */
export function toBackendRecord({ version, ...row }: BackendRow): BackendRecord {
  return { ...row, version: toGrantedVersion(version) };
}
