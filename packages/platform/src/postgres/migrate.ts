import { readFile, readdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { getCode, getMessage } from "@platform/engine/base/thrown";
import { MIGRATION_LOCK } from "./locks.ts";
import type { Database, RunStatement } from "./database.ts";

/** The migrations, `NNNN_what.sql`; append-only. */
export const MIGRATIONS_DIRECTORY = fileURLToPath(new URL("../../migrations", import.meta.url));

interface Migration {
  readonly number: number;
  readonly name: string;
}

/**
 * Brings the schema up to date. Applies each file once, in order, in a transaction that also records it. Concurrent
 * processes wait for each other. Returns the names of the files that were applied.
 *
 * @throws Error when the database was migrated by a newer release, or a migration failed: it then changed nothing
 */
export async function migrate(
  database: Database,
  directory = MIGRATIONS_DIRECTORY,
): Promise<readonly string[]> {
  const migrations = await listMigrations(directory);
  const applied: string[] = [];
  for (;;) {
    const name = await database.transaction((run) => applyNext(run, directory, migrations));
    if (name === null) return applied;
    applied.push(name);
  }
}

async function listMigrations(directory: string): Promise<readonly Migration[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith(".sql")).sort();
  const migrations = names.map((name) => ({ number: Number.parseInt(name, 10), name }));
  const isCounted = migrations.every(({ number }, index) => number === index + 1);
  if (!isCounted)
    throw new Error(`Migrations in ${directory} are not numbered 0001, 0002, ...: ${names.join(", ")}`);
  return migrations;
}

async function applyNext(
  run: RunStatement,
  directory: string,
  migrations: readonly Migration[],
): Promise<string | null> {
  await run({ text: "select pg_advisory_xact_lock($1)", values: [MIGRATION_LOCK] });
  await run({
    text: `create table if not exists schema_migration (
      number integer primary key, name text not null, applied_at timestamptz not null default now())`,
  });
  const [newest] = await run<{ number: number }>({
    text: "select coalesce(max(number), 0) as number from schema_migration",
  });
  const reached = newest?.number ?? 0;
  if (reached > migrations.length) {
    throw new Error(
      `The database has schema ${reached}, but this release knows only up to ${migrations.length}: it is older than the ` +
        `release that last used the database. Start the newer release, or restore a backup from before the upgrade.`,
    );
  }
  const next = migrations[reached];
  if (next === undefined) return null;
  await run({ text: await readFile(join(directory, next.name), "utf8") }).catch((cause: unknown) => {
    throw describeFailure(next.name, cause);
  });
  await run({
    text: "insert into schema_migration (number, name) values ($1, $2)",
    values: [next.number, next.name],
  });
  return next.name;
}

/** Keeps the code: by it, the transaction is tried again or not (`retry.ts`). */
function describeFailure(name: string, cause: unknown): Error {
  const reason = getMessage(cause);
  const error = new Error(
    `The migration ${name} failed and changed nothing: ${reason}. Start the release that last used the database, and report this.`,
    { cause },
  );
  return Object.assign(error, { code: getCode(cause) });
}
