import { mkdtemp, chmod, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createDatabase } from "../postgres/database.ts";
import type { Database } from "../postgres/database.ts";
import { migrate } from "../postgres/migrate.ts";
import { startEmbeddedPostgres } from "../postgres/supervisor.ts";
import { createRecordingLogger } from "./test-database.ts";

/** The schema that the migrations add up to; checked in, compared by a test. */
export const SCHEMA_FILE = fileURLToPath(new URL("../../schema.sql", import.meta.url));

const HEADER = `-- Written by \`npm run gen\` from the migrations; do not edit.
-- Daily partitions are left out.
`;

interface TableRow {
  readonly name: string;
  readonly partitionKey: string | null;
  readonly parent: string | null;
  readonly bound: string | null;
}

interface PartRow {
  readonly table: string;
  readonly definition: string;
}

/** Renders tables, columns, constraints and indexes from the catalogue, equal for equal schemas. */
export async function renderSchema(database: Database): Promise<string> {
  const tables = await database.query<TableRow>({ text: TABLES });
  const columns = groupByTable(await database.query<PartRow>({ text: COLUMNS }));
  const constraints = groupByTable(await database.query<PartRow>({ text: CONSTRAINTS }));
  const indexes = groupByTable(await database.query<PartRow>({ text: INDEXES }));
  const parts = tables.map((table) => {
    const isPartition = table.parent !== null;
    const lines = isPartition
      ? []
      : [...(columns.get(table.name) ?? []), ...(constraints.get(table.name) ?? [])];
    const statements = isPartition ? [] : (indexes.get(table.name) ?? []).map((index) => `${index};`);
    return [renderTable(table, lines), ...statements].join("\n");
  });
  return `${HEADER}\n${parts.join("\n\n")}\n`;
}

function renderTable(table: TableRow, lines: readonly string[]): string {
  if (table.parent !== null)
    return `create table ${table.name} partition of ${table.parent} ${table.bound ?? ""};`;
  const body = lines.map((line) => `  ${line}`).join(",\n");
  const partitioning = table.partitionKey === null ? "" : ` partition by ${table.partitionKey}`;
  return `create table ${table.name} (\n${body}\n)${partitioning};`;
}

function groupByTable(rows: readonly PartRow[]): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const { table, definition } of rows) {
    const group = groups.get(table);
    if (group === undefined) groups.set(table, [definition]);
    else group.push(definition);
  }
  return groups;
}

const IS_OURS = `c.relnamespace = 'public'::regnamespace and c.relname !~ '_p[0-9]{8}$'`;

const TABLES = `select quote_ident(c.relname) as name, pg_get_partkeydef(c.oid) as "partitionKey",
    quote_ident(p.relname) as parent, pg_get_expr(c.relpartbound, c.oid) as bound
  from pg_class c left join pg_inherits i on i.inhrelid = c.oid left join pg_class p on p.oid = i.inhparent
  where c.relkind in ('r', 'p') and ${IS_OURS} order by c.relname`;

const COLUMNS = `select quote_ident(c.relname) as table, concat_ws(' ', quote_ident(a.attname),
    format_type(a.atttypid, a.atttypmod), case when a.attstorage = 'e' and t.typstorage <> 'e' then 'storage external' end,
    case when a.attnotnull then 'not null' end,
    case a.attgenerated when 's' then 'generated always as (' || pg_get_expr(d.adbin, d.adrelid) || ') stored'
      else 'default ' || pg_get_expr(d.adbin, d.adrelid) end,
    case a.attidentity when 'a' then 'generated always as identity' end) as definition
  from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_type t on t.oid = a.atttypid
  left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where a.attnum > 0 and not a.attisdropped and c.relkind in ('r', 'p') and ${IS_OURS} order by c.relname, a.attnum`;

/** From PostgreSQL 18 on "not null" is a constraint (contype n) too; it stands with the column already. */
const CONSTRAINTS = `select quote_ident(c.relname) as table,
    'constraint ' || quote_ident(o.conname) || ' ' || pg_get_constraintdef(o.oid) as definition
  from pg_constraint o join pg_class c on c.oid = o.conrelid
  where o.contype <> 'n' and c.relkind in ('r', 'p') and ${IS_OURS} order by c.relname, o.contype, o.conname`;

const INDEXES = `select quote_ident(c.relname) as table, pg_get_indexdef(x.indexrelid) as definition
  from pg_index x join pg_class c on c.oid = x.indrelid join pg_class n on n.oid = x.indexrelid
  where not exists (select 1 from pg_constraint o where o.conindid = x.indexrelid and o.contype in ('p', 'u', 'x'))
    and c.relkind in ('r', 'p') and ${IS_OURS} order by c.relname, n.relname`;

/** Renders what the migrations make of an empty database, on a server of its own. */
export async function dumpSchema(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "platform-schema-"));
  await chmod(directory, 0o755);
  const logger = createRecordingLogger();
  const server = await startEmbeddedPostgres({ directory: join(directory, "postgres"), logger });
  const database = createDatabase(server.connection, { logger });
  try {
    await migrate(database);
    return await renderSchema(database);
  } finally {
    await database.close();
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  }
}
