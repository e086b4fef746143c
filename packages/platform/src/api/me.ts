import { MAX_PAGE_SIZE } from "@platform/contract/limits";
import { Problem } from "@platform/contract/problems";
import type { Organization } from "@platform/contract/platform-api/account";
import type { Identity } from "../accounts/identity.ts";
import type { Membership } from "../accounts/memberships.ts";

/** What is needed to describe a user. */
export type MeSource = Pick<Identity, "findUser" | "listOrganisations">;

/** A user as `Me` of the contract. `membership`: the organisation in use; missing: the user's own, or else their first. */
export async function describeMe(identity: MeSource, userId: string, membership?: Membership) {
  const [user, organisations] = await Promise.all([
    identity.findUser(userId),
    identity.listOrganisations(userId, { limit: MAX_PAGE_SIZE, offset: 0 }),
  ]);
  const inUse = membership ?? organisations[0];
  if (user === null) throw new Problem("UNAUTHENTICATED", "This user is disabled.");
  if (inUse === undefined) throw new Problem("FORBIDDEN", "You are not a member of any organisation.");
  return {
    id: user.id,
    email: user.email,
    emailVerified: user.isEmailVerified,
    name: user.name,
    operator: user.isOperator,
    organization: toOrganisationBody(inUse),
    organizations: organisations.map(toOrganisationBody),
  };
}

/** A membership as the contract shows organisations. */
export function toOrganisationBody(membership: Membership): Organization {
  return {
    id: membership.organisationId,
    slug: membership.slug,
    name: membership.organisationName,
    role: membership.role,
    isPersonal: membership.isPersonal,
  };
}
