import type { Pool } from "pg";

/**
 * Whether anybody exists. The table is better-auth's; asking it ourselves spares a process that only wants to know
 * whether there is something to bootstrap the loading of the library (25 MB, 0.4 s).
 */
export async function hasUsers(pool: Pool): Promise<boolean> {
  const { rows } = await pool.query<{ found: boolean }>('select exists (select 1 from "user") as found');
  return rows[0]?.found === true;
}
