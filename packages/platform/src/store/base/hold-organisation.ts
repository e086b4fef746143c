import { Problem } from "@platform/contract/problems";
import type { RunStatement } from "../../postgres/database.ts";

/**
 * Holds the organisation until the commit: what is made in it is counted one after the other, and its deletion waits, and removes what is made
 * now. False: it was deleted, also while this waited. What is made in it after that nothing would remove.
 */
export async function holdOrganisation(run: RunStatement, organisationId: string): Promise<boolean> {
  const held = await run({
    text: "select id from organisation where id = $1 and deleted_at is null for no key update",
    values: [organisationId],
  });
  return held.length > 0;
}

/** The same. @throws Problem FORBIDDEN: it was deleted */
export async function requireOrganisation(run: RunStatement, organisationId: string): Promise<void> {
  if (await holdOrganisation(run, organisationId)) return;
  throw new Problem("FORBIDDEN", "The organisation was deleted meanwhile.");
}
