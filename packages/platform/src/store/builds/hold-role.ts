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
 * Until the commit the user keeps a role that may do what the transaction does, and the organisation is there: who is demoted or removed
 * at the same time is so before it, and refused, or after it; and what is made of an organisation that is being deleted would stay for
 * ever, as nobody could remove it and no quota would count it.
 *
 * @throws Problem FORBIDDEN
 */
export async function holdRole(
  run: RunStatement,
  { organisationId, userId, roles }: RoleHolder,
): Promise<void> {
  const rows = await run({
    // Whoever deletes the organisation holds it for update. Its members stay then.
    text: `select 1 from organisation o join member m on m.organisation_id = o.id
      where o.id = $1 and o.deleted_at is null and m.user_id = $2 and m.role = any ($3::text[]) for key share of o for share of m`,
    values: [organisationId, userId, roles],
  });
  if (rows.length > 0) return;
  throw new Problem(
    "FORBIDDEN",
    `Your role in the organisation was changed, or the organisation deleted, meanwhile; this needs the role ${roles.join(" or ")}.`,
  );
}
