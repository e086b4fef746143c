import type { Database } from "../postgres/database.ts";

/** The clocks that the statements of processes go by. */
export interface SteeredClock {
  /** Settings of the connections of a process that goes by the clock of this name (`DatabaseOptions.settings`). */
  readonly settingsOf: (name: string) => Readonly<Record<string, string>>;
  /** ISO 8601, to the microsecond. What was never set goes by the clock of the database's host. */
  readonly set: (name: string, at: string) => Promise<void>;
}

const SCHEMA = "steered";
const READ_OWN = "select at from steered.clock where name = current_setting('steered.clock')";
/** A statement that waits goes on by the latest clock, as time passes for all. */
const SETUP = [
  `create schema ${SCHEMA}`,
  "create table steered.clock (name text primary key, at timestamptz not null)",
  `create function steered.now() returns timestamptz stable language sql as
    $$ select coalesce((${READ_OWN}), pg_catalog.now()) $$`,
  `create function steered.clock_timestamp() returns timestamptz volatile language sql as
    $$ select coalesce((select max(at) from steered.clock), pg_catalog.clock_timestamp()) $$`,
];

/** Puts functions of a database's own before those of PostgreSQL that tell the time; defaults of columns keep the latter. */
export async function steerClock(database: Database): Promise<SteeredClock> {
  for (const text of SETUP) await database.query({ text });
  return {
    settingsOf: (name) => ({ search_path: `${SCHEMA},pg_catalog,public`, "steered.clock": name }),
    set: async (name, at) => {
      await database.query({
        text: "insert into steered.clock values ($1, $2) on conflict (name) do update set at = excluded.at",
        values: [name, at],
      });
    },
  };
}
