import type { Database } from "../../postgres/database.ts";

/** Content as it is counted: equal content once for each that names it. */
export interface StoredKind {
  readonly kind: string;
  readonly count: number;
  readonly bytes: number;
}

/** What is stored by kind: content of objects, then groups of tables with their indexes. */
const STORED_KINDS = [
  "archives",
  "pool-files",
  "results",
  "uploads",
  "objects",
  "database-executions",
  "database-feed",
  "database-audit",
  "database-usage",
  "database-other",
] as const;

const STORED = `select 'archives' as kind, count(*)::float8 as count, coalesce(sum(o.bytes), 0)::float8 as bytes
    from object o where exists (select 1 from version v where v.archive_hash = o.hash)
  union all select 'pool-files', count(*), coalesce(sum(bytes), 0) from pool_file where ended_at is null
  union all select 'results', count(*), coalesce(sum(bytes), 0) from execution_output
  union all select 'uploads', count(*), coalesce(sum(received), 0) from pool_upload where stored_at is null
  union all select 'objects', count(*), coalesce(sum(bytes), 0) from object`;

/** Partitions belong to the group of their table, since their names begin with its. */
const TABLES = `select 'database-' || case
      when c.relname ~ '^(execution|kept)_' or c.relname = 'execution' then 'executions'
      when c.relname like 'feed\\_%' then 'feed'
      when c.relname like 'audit\\_%' then 'audit'
      when c.relname like 'usage\\_%' then 'usage'
      else 'other' end as kind, count(*)::float8 as count, sum(pg_total_relation_size(c.oid))::float8 as bytes
  from pg_class c where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' group by 1`;

/** Reads all of it: the tables of files, and the sizes of all tables. To be asked seldom. */
export async function measureStorage(database: Pick<Database, "query">): Promise<readonly StoredKind[]> {
  const found = await Promise.all(
    [STORED, TABLES].map((text) => database.query<StoredKind>({ text, idempotent: true })),
  );
  const kinds = new Map(found.flat().map((kind) => [kind.kind, kind]));
  return STORED_KINDS.map((kind) => kinds.get(kind) ?? { kind, count: 0, bytes: 0 });
}
