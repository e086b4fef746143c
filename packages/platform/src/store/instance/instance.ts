import type { Database } from "../../postgres/database.ts";
import { measureQueue } from "../executions/measure-queue.ts";
import type { QueueMeasure } from "../executions/measure-queue.ts";

/** The database, as far as its operators ask. */
interface DatabaseFacts {
  /** Of PostgreSQL. */
  readonly version: string;
  /** All of this database, in bytes. */
  readonly sizeBytes: number;
  /** Of all clients, and how many the server allows. */
  readonly connections: number;
  readonly maxConnections: number;
  /** How long the oldest transaction of this database is open; it keeps removed rows on the disk. */
  readonly oldestTransactionSeconds: number;
  /** Name of the last migration. */
  readonly migration: string;
}

/** Facts about the instance. */
export interface InstanceStore {
  readonly readDatabase: () => Promise<DatabaseFacts>;
  /** As `measureQueue`: to be kept for some seconds. */
  readonly measureQueue: () => Promise<QueueMeasure>;
}

/** The same in PostgreSQL. */
export function createInstanceStore(database: Database): InstanceStore {
  return {
    readDatabase: async () => {
      const [row] = await database.query<DatabaseFacts>({
        text: `select current_setting('server_version') as version, pg_database_size(current_database())::float8 as "sizeBytes",
            (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as connections,
            current_setting('max_connections')::int as "maxConnections",
            coalesce((select extract(epoch from now() - min(a.xact_start))::float8 from pg_stat_activity a
              where a.datname = current_database() and a.pid <> pg_backend_pid()), 0) as "oldestTransactionSeconds",
            (select m.name from schema_migration m order by m.number desc limit 1) as migration`,
        idempotent: true,
      });
      if (row === undefined) throw new Error("PostgreSQL does not describe itself.");
      return row;
    },
    measureQueue: () => measureQueue(database),
  };
}
