import { copyFile, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Database } from "../postgres/database.ts";
import { MIGRATIONS_DIRECTORY, migrate } from "../postgres/migrate.ts";

/** The schema as the release had it whose last migration is of this number. */
export async function migrateTo(database: Database, number: number): Promise<void> {
  const former = await mkdtemp(join(tmpdir(), "platform-former-"));
  try {
    const names = (await readdir(MIGRATIONS_DIRECTORY)).sort().slice(0, number);
    for (const name of names) await copyFile(join(MIGRATIONS_DIRECTORY, name), join(former, name));
    await migrate(database, former);
  } finally {
    await rm(former, { recursive: true });
  }
}
