import type { Pool } from "pg";

/**
 * Whether there is any user. The table belongs to better-auth; it is queried directly, so that a process need not load the
 * library (25 MB, 0.4 s) to find out whether to create the first user.
 */
export async function hasUsers(pool: Pool): Promise<boolean> {
  const { rows } = await pool.query<{ found: boolean }>('select exists (select 1 from "user") as found');
  return rows[0]?.found === true;
}
