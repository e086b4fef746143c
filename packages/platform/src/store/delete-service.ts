import { isUuid } from "@platform/engine/base/uuid";
import type { RunStatement } from "../postgres/database.ts";
import { noteAudit } from "./audit/trail.ts";

/** Why a service cannot be deleted; numbers of what refers to it. */
export interface ServiceObstacles {
  /** Retired ones as well. */
  readonly versions: number;
  /** Unfinished. */
  readonly builds: number;
  /** Cancelled ones as well. */
  readonly subscriptions: number;
}

/**
 * Deletes a service that has never had a version or a subscription, with its failed builds, plans, listing, secrets and variables. Null:
 * the organisation has none of this key. Nothing refers to it elsewhere: executions and usage name versions.
 */
export async function deleteService(
  run: RunStatement,
  organisationId: string,
  key: string,
): Promise<"deleted" | ServiceObstacles | null> {
  if (!isUuid(key)) return null;
  // Also waits for what is being made of it: such rows refer to this one, or are made under its lock.
  const [service] = await run<{ readonly name: string }>({
    text: "select name from service where key = $1 and organisation_id = $2 for update",
    values: [key, organisationId],
  });
  if (service === undefined) return null;
  // Statements of their own, since they must see what was committed while the first one waited for its lock.
  const [found] = await run<ServiceObstacles>({
    text: `select (select count(*)::int from version where service_key = $1) as versions,
        (select count(*)::int from build where service_key = $1 and status in ('PENDING', 'RUNNING')) as builds,
        (select count(*)::int from subscription where service_key = $1) as subscriptions`,
    values: [key],
  });
  if (found === undefined) throw new Error("A query of counts returned no row.");
  if (found.versions + found.builds + found.subscriptions > 0) return found;
  noteAudit({ changes: [{ field: "name", before: service.name, after: null }] });
  for (const text of PARTS) await run({ text, values: [key] });
  await run({
    text: "delete from service where key = $1 returning key",
    values: [key],
    audited: ["service.delete"],
  });
  return "deleted";
}

const PARTS = [
  "delete from build where service_key = $1",
  "delete from plan where service_key = $1",
  "delete from service_policy where service_key = $1",
  "delete from listing where service_key = $1",
  "delete from variable where scope_id = $1",
] as const;
