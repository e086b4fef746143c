import { Problem } from "@platform/contract/problems";
import { isUuid } from "@platform/engine/base/uuid";
import type { RunStatement } from "../../postgres/database.ts";
import { noteAudit } from "../audit/trail.ts";

/** What an organisation may do with a data pool: `owner` with its own, the others with one that is shared with it. */
export type PoolRole = "viewer" | "maintainer" | "owner";

/** Who stores, renames and deletes files. */
export const WRITERS: readonly PoolRole[] = ["owner", "maintainer"];

/** A data pool, and the organisation that asks for it. */
export interface PoolKey {
  readonly organisationId: string;
  readonly poolId: string;
}

/**
 * SQL: the data pools `p` that an organisation sees, its own and those that are shared with it, with its role (`seen.role`).
 * `organisation`: the parameter with its id.
 */
export function selectSeen(organisation: string): string {
  return `(select id as pool_id, 'owner' as role from data_pool where organisation_id = ${organisation}
      union all select pool_id, role from data_pool_share where organisation_id = ${organisation}
    ) seen join data_pool p on p.id = seen.pool_id and p.deleted_at is null`;
}

/** A data pool whose row is held. */
export interface HeldPool {
  /** The organisation that it belongs to. */
  readonly organisationId: string;
  /** Of the organisation that asks. */
  readonly role: PoolRole;
}

/**
 * Holds the row of the pool until the commit: nothing of the pool is changed by others meanwhile, nor who may change it. Null: the
 * organisation sees no such pool. What is done to the pool of another organisation is written in the logs of both.
 *
 * @throws Problem FORBIDDEN where the organisation sees the pool, and has none of these roles
 */
export async function holdPool(
  run: RunStatement,
  { organisationId, poolId }: PoolKey,
  roles: readonly PoolRole[],
): Promise<HeldPool | null> {
  if (!isUuid(poolId)) return null;
  await run({
    text: `select p.id from ${selectSeen("$2")} where p.id = $1 for no key update of p`,
    values: [poolId, organisationId],
  });
  // A statement of its own: it sees what was committed while the first one waited.
  const [pool] = await run<HeldPool & { readonly name: string; readonly organisationName: string }>({
    text: `select p.name, p.organisation_id as "organisationId", o.name as "organisationName", seen.role
      from ${selectSeen("$2")} join organisation o on o.id = p.organisation_id where p.id = $1`,
    values: [poolId, organisationId],
  });
  if (pool === undefined) return null;
  if (!roles.includes(pool.role)) throw refusePool(pool, roles.includes("maintainer") ? "write" : "own");
  if (pool.organisationId !== organisationId) noteAudit({ alsoIn: pool.organisationId });
  return pool;
}

/** The refusal of what a pool of another organisation is not shared for: changing its files, or what only its owner may do. */
export function refusePool(
  { name, organisationName }: { readonly name: string; readonly organisationName: string },
  wanted: "write" | "own",
): Problem {
  const rule =
    wanted === "write" ? "which lets your organisation read its files only" : "which alone may do this";
  return new Problem("FORBIDDEN", `The data pool ${name} belongs to ${organisationName}, ${rule}.`);
}
