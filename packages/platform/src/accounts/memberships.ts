import { isUuid } from "@platform/engine/base/uuid";
import { createCache } from "@platform/engine/base/cache";
import { ROLES } from "@platform/contract/permissions";
import type { Role } from "@platform/contract/permissions";
import type { MemberRecord, MemberStore, MembershipPage } from "../store/accounts/members.ts";

/** A user in an organisation. */
export interface Membership extends MemberRecord {
  readonly role: Role;
}

/** Which users belong to which organisations. */
export interface Memberships {
  /**
   * Without an organisation id: the user's own. Null when there is no such organisation or the user is not a member; callers
   * must not be able to distinguish the two. Cached for TTL_MS.
   */
  readonly findMembership: (userId: string, organisationId?: string) => Promise<Membership | null>;
  /** By name, the user's own first; `offset` counts memberships. */
  readonly listOrganisations: (userId: string, page: MembershipPage) => Promise<readonly Membership[]>;
  /** Adds a user to an organisation. */
  readonly addMember: (organisationId: string, userId: string, role: Role) => Promise<void>;
  /** Drops what is cached: it may have changed. */
  readonly forgetMemberships: () => void;
}

const TTL_MS = 5_000;
const MAX_CACHED = 10_000;

/** Reads memberships. `elapsed`: milliseconds since any fixed moment. */
export function createMemberships(store: MemberStore, elapsed: () => number): Memberships {
  const cache = createCache<Membership | null>({ ttlMs: TTL_MS, maxEntries: MAX_CACHED, now: elapsed });
  return {
    findMembership: async (userId, organisationId) => {
      // Before the cache: what is no id may be as long as a header, and would be kept.
      if (organisationId !== undefined && !isUuid(organisationId)) return null;
      return await cache.get(`${userId} ${organisationId?.toLowerCase() ?? ""}`, async () => {
        const found = await store.find(userId, organisationId);
        return found && toMembership(found);
      });
    },
    listOrganisations: async (userId, page) => (await store.listOfUser(userId, page)).map(toMembership),
    addMember: async (organisationId, userId, role) => {
      await store.add(organisationId, userId, role);
      cache.clear();
    },
    forgetMemberships: cache.clear,
  };
}

function toMembership(member: MemberRecord): Membership {
  // A role that this release does not know gets the fewest rights.
  return { ...member, role: ROLES.find((role) => role === member.role) ?? "viewer" };
}
