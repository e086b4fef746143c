import { Problem } from "@platform/contract/problems";
import type { Role } from "@platform/contract/permissions";
import type { RunStatement } from "../../postgres/database.ts";

/** A user, in an organisation, and the roles of which they must have one. */
interface RoleHolder {
  readonly organisationId: string;
  readonly userId: string;
  readonly roles: readonly Role[];
}

/**
 * Until the commit the user keeps a role that may do what the transaction does: who is demoted or removed at the same time is so before
 * it, and refused, or after it.
 *
 * @throws Problem FORBIDDEN
 */
export async function holdRole(
  run: RunStatement,
  { organisationId, userId, roles }: RoleHolder,
): Promise<void> {
  const rows = await run({
    text: `select 1 from member m where m.organisation_id = $1 and m.user_id = $2 and m.role = any ($3::text[]) for share`,
    values: [organisationId, userId, roles],
  });
  if (rows.length > 0) return;
  throw new Problem(
    "FORBIDDEN",
    `Your role in the organisation was changed meanwhile; this needs the role ${roles.join(" or ")}.`,
  );
}
