import type { Database } from "../../postgres/database.ts";

/** An object as the database knows it. */
export interface ObjectRow {
  /** SHA-256 in hex. */
  readonly hash: string;
  /** Null: it was stored before sizes were noted. */
  readonly bytes: number | null;
}

/** An object that is just being removed. */
interface MarkedObject extends ObjectRow {
  /** Tells this mark from those that others have made or make. */
  readonly mark: string;
}

/** Content that a store has. */
interface FoundObject {
  readonly hash: string;
  readonly bytes: number;
  /** Milliseconds since the epoch. */
  readonly keptAt: number;
}

/**
 * Which objects there are, and which may be removed: the database alone decides.
 *
 * Whoever writes a row that names an object does so within a day after `note`, or copies the name from a row that stays for another day.
 * So nothing but `note` has to agree with those who remove.
 */
export interface ObjectRows {
  /** Before content is stored. False: what has this name is just being removed; nothing may be stored now. */
  readonly note: (object: Omit<FoundObject, "keptAt">) => Promise<boolean>;
  /** Marks objects that no row needs, and were not noted for a day: the caller removes them within `REMOVAL_MINUTES`. */
  readonly mark: () => Promise<readonly MarkedObject[]>;
  /** The content of a marked object has gone; false: the mark has ended meanwhile, whoever has marked it since. */
  readonly forget: (marked: Pick<MarkedObject, "hash" | "mark">) => Promise<boolean>;
  /** What `mark` would mark, all of it. */
  readonly listUnneeded: () => Promise<readonly ObjectRow[]>;
  /** Notes content that has no row, as of the time when it was stored; returns how many. */
  readonly adopt: (found: readonly FoundObject[]) => Promise<number>;
  /** Those of these that have no row. */
  readonly findUnknown: (hashes: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Those noted more than an hour ago that a row needs, by hash; `after`: from the next one on. */
  readonly listNeeded: (after: string) => Promise<readonly ObjectRow[]>;
}

/** Objects that are marked, or listed, by one statement. */
export const AT_ONCE = 100;
const LISTED = 10_000;
/** A store that was told to remove content has done so after this time, or will not. */
export const REMOVAL_MINUTES = 15;

/** SQL: whether a row of each kind needs the object `o`. */
interface Needs {
  readonly file: string;
  readonly input: string;
  readonly output: string;
}

/** SQL: a row needs the object `o`: a file of a data pool, also for a day after it has ended; an execution that reads it, which has not ended, or that has returned it and is retained; a version that is live, was retired within the retention ($1, in days) or has unfinished executions; an unfinished build. */
const describeNeeds = ({ file, input, output }: Needs) => `${file}
      or ${input}
      or ${output}
      or exists (select 1 from build b where b.archive_hash = o.hash and b.status in ('PENDING', 'RUNNING'))
      or exists (
        select 1 from version v where v.archive_hash = o.hash and (
          v.retired_at is null or v.retired_at > now() - make_interval(days => $1)
          or exists (select 1 from execution e where e.version_id = v.id and e.status in ('PENDING', 'RUNNING'))
        )
      )`;

const IS_NEEDED = describeNeeds({
  file: "exists (select 1 from pool_file f where f.hash = o.hash)",
  input: "exists (select 1 from execution_object x where x.hash = o.hash)",
  output: "exists (select 1 from execution_output x where x.hash = o.hash)",
});

/** SQL: the same when a round has removed rows that are not needed themselves, and `g.results` of the results that name it. */
const STAYS_NEEDED = describeNeeds({
  file: "exists (select 1 from pool_file f where f.hash = o.hash and (f.ended_at < now() - interval '1 day') is not true)",
  input: `exists (
        select 1 from execution_object x join execution e on e.id = x.execution_id where x.hash = o.hash and e.status in ('PENDING', 'RUNNING')
      )`,
  output: "(select count(*) from execution_output x where x.hash = o.hash) > coalesce(g.results, 0)",
});

/** SQL: objects `o` that may be removed if nothing needs them. */
const IS_FREE = "o.kept_at < now() - interval '1 day' and coalesce(o.removing_until < now(), true)";
const UNNEEDED = `from object o where ${IS_FREE} and not (${IS_NEEDED})`;

/**
 * How many objects the next round removes, and their size. `results`: by hash, how many of the results that it removes name an object
 * (previewRemoval).
 */
export async function previewObjects(
  database: Pick<Database, "query">,
  retentionDays: number,
  results: ReadonlyMap<string, number>,
): Promise<{ readonly objects: number; readonly bytes: number }> {
  const [row] = await database.query<{ objects: number; bytes: number }>({
    text: `select count(*)::float8 as objects, coalesce(sum(o.bytes), 0)::float8 as bytes
      from object o left join unnest($2::text[], $3::float8[]) as g (hash, results) on g.hash = o.hash
      where ${IS_FREE} and not (${STAYS_NEEDED})`,
    values: [retentionDays, [...results.keys()], [...results.values()]],
    idempotent: true,
  });
  return row ?? { objects: 0, bytes: 0 };
}

/** The rows in PostgreSQL. */
export function createObjectRows(database: Pick<Database, "query">, retentionDays: number): ObjectRows {
  return {
    note: (object) => note(database, object),
    mark: () =>
      database.query({
        // A row that is just noted has the lock, or is looked at again when it has the new time. Chosen once: a plan that asks a
        // subquery again marks more than the limit.
        text: `with chosen as materialized (
            select o.hash ${UNNEEDED} order by o.kept_at limit ${AT_ONCE} for update of o skip locked
          )
          update object set removing_until = now() + interval '${REMOVAL_MINUTES} minutes' from chosen
          where object.hash = chosen.hash
          returning object.hash, object.bytes::float8 as bytes, object.removing_until::text as mark`,
        values: [retentionDays],
      }),
    forget: async ({ hash, mark }) => {
      const rows = await database.query({
        text: "delete from object where hash = $1 and removing_until = $2::timestamptz and removing_until > now() returning hash",
        values: [hash, mark],
        idempotent: true,
      });
      return rows.length > 0;
    },
    listUnneeded: () =>
      database.query({
        text: `select o.hash, o.bytes::float8 as bytes ${UNNEEDED} order by o.kept_at`,
        values: [retentionDays],
        idempotent: true,
      }),
    adopt: (found) => adopt(database, found),
    findUnknown: async (hashes) => {
      const rows = await database.query<{ hash: string }>({
        text: `select hash from unnest($1::text[]) as found (hash) where not exists (select 1 from object o where o.hash = found.hash)`,
        values: [hashes],
        idempotent: true,
      });
      return new Set(rows.map(({ hash }) => hash));
    },
    listNeeded: (after) =>
      database.query({
        text: `select o.hash, o.bytes::float8 as bytes from object o
          where o.hash > $2 and o.kept_at < now() - interval '1 hour' and (${IS_NEEDED}) order by o.hash limit ${LISTED}`,
        values: [retentionDays, after],
        idempotent: true,
      }),
  };
}

async function note(
  database: Pick<Database, "query">,
  { hash, bytes }: Omit<FoundObject, "keptAt">,
): Promise<boolean> {
  const rows = await database.query({
    name: "object-note",
    text: `insert into object as o (hash, bytes) values ($1, $2)
      on conflict (hash) do update set bytes = excluded.bytes, kept_at = now(), removing_until = null
        where coalesce(o.removing_until < now(), true)
      returning hash`,
    values: [hash, bytes],
    idempotent: true,
  });
  return rows.length > 0;
}

async function adopt(database: Pick<Database, "query">, found: readonly FoundObject[]): Promise<number> {
  const rows = await database.query({
    // A clock of a store may be ahead.
    text: `insert into object (hash, bytes, kept_at)
      select hash, bytes, least(now(), to_timestamp(kept_ms / 1000)) from unnest($1::text[], $2::bigint[], $3::float8[]) as f (hash, bytes, kept_ms)
      on conflict do nothing returning hash`,
    values: [
      found.map(({ hash }) => hash),
      found.map(({ bytes }) => bytes),
      found.map(({ keptAt }) => keptAt),
    ],
    idempotent: true,
  });
  return rows.length;
}
