import type { Database } from "../../postgres/database.ts";
import { CREATE } from "./create-statement.ts";

/** Those of a first start: one counts what waits while the other stores it. */
const CONNECTIONS_OF_A_START = 2;

/**
 * Has connections read from the catalogs what statements on executions need, whose tables have a partition for each day: otherwise the first
 * start of a process does. Plans a statement that concerns most tables, and executes nothing.
 *
 * @throws Problem UNAVAILABLE, and the error of a server before PostgreSQL 16, which cannot explain a plan without parameters
 */
export async function warmUp(database: Database, vital: Database): Promise<void> {
  const start = Array.from({ length: CONNECTIONS_OF_A_START }, async () => plan(database));
  await Promise.all([...start, plan(vital)]);
}

async function plan(on: Database): Promise<void> {
  await on.query({ text: `explain (generic_plan) ${CREATE}`, idempotent: true });
}
