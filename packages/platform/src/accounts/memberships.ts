import { isUuid } from "@platform/engine/base/uuid";
import { createCache } from "@platform/engine/base/cache";
import type { LoadLibrary, LoadedLibrary } from "./library-loader.ts";
import { isRole } from "./roles.ts";
import type { Role } from "./roles.ts";
import { personalSlug } from "./users.ts";

/** A user in an organisation. */
export interface Membership {
  readonly organisationId: string;
  readonly organisationName: string;
  readonly role: Role;
  /** Whether it is the user's own organisation. */
  readonly isPersonal: boolean;
}

/** Which users belong to which organisations. */
export interface Memberships {
  /**
   * Without an organisation id: the user's own. Null when there is no such organisation or the user is not a member; callers
   * must not be able to distinguish the two. Cached for TTL_MS.
   */
  readonly findMembership: (userId: string, organisationId?: string) => Promise<Membership | null>;
  /** By name, the user's own first; `offset` counts memberships. */
  readonly listOrganisations: (
    userId: string,
    page: { readonly limit: number; readonly offset: number },
  ) => Promise<readonly Membership[]>;
  /** Adds a user to an organisation. */
  readonly addMember: (organisationId: string, userId: string, role: Role) => Promise<void>;
}

interface MemberRow {
  readonly organizationId: string;
  readonly role: string;
}

interface OrganizationRow {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
}

const TTL_MS = 5_000;
const MAX_CACHED = 10_000;
const MAX_MEMBERSHIPS = 1_000;

/** Reads memberships through the library. `now`: milliseconds since any fixed moment. */
export function createMemberships(load: LoadLibrary, now: () => number): Memberships {
  const cache = createCache<Membership | null>({ ttlMs: TTL_MS, maxEntries: MAX_CACHED, now });
  return {
    findMembership: async (userId, organisationId) => {
      if (organisationId !== undefined && !isUuid(organisationId)) return null;
      return await cache.get(`${userId} ${organisationId?.toLowerCase() ?? ""}`, async () =>
        findMembership(await load(), userId, organisationId),
      );
    },
    listOrganisations: async (userId, { limit, offset }) => {
      const all = await listMemberships(await load(), userId);
      return all.slice(offset, offset + limit);
    },
    addMember: async (organisationId, userId, role) => {
      const { context } = await load();
      await context.adapter.create({
        model: "member",
        data: { organizationId: organisationId, userId, role, createdAt: new Date() },
      });
      cache.clear();
    },
  };
}

async function findMembership(
  library: LoadedLibrary,
  userId: string,
  organisationId: string | undefined,
): Promise<Membership | null> {
  const { adapter } = library.context;
  const organization = await adapter.findOne<OrganizationRow>({
    model: "organization",
    where: [
      organisationId === undefined
        ? { field: "slug", value: personalSlug(userId) }
        : { field: "id", value: organisationId },
    ],
  });
  if (!organization) return null;
  const member = await adapter.findOne<MemberRow>({
    model: "member",
    where: [
      { field: "organizationId", value: organization.id },
      { field: "userId", value: userId },
    ],
  });
  return member ? toMembership(userId, member, organization) : null;
}

async function listMemberships(library: LoadedLibrary, userId: string): Promise<readonly Membership[]> {
  const { adapter } = library.context;
  const members = await adapter.findMany<MemberRow>({
    model: "member",
    where: [{ field: "userId", value: userId }],
    limit: MAX_MEMBERSHIPS,
  });
  if (members.length === 0) return [];
  const organizations = await adapter.findMany<OrganizationRow>({
    model: "organization",
    where: [{ field: "id", operator: "in", value: members.map((member) => member.organizationId) }],
    limit: MAX_MEMBERSHIPS,
  });
  const byId = new Map(organizations.map((organization) => [organization.id, organization]));
  return members
    .flatMap((member) => {
      const organization = byId.get(member.organizationId);
      return organization ? [toMembership(userId, member, organization)] : [];
    })
    .sort(
      (a, b) =>
        Number(b.isPersonal) - Number(a.isPersonal) ||
        a.organisationName.localeCompare(b.organisationName) ||
        a.organisationId.localeCompare(b.organisationId),
    );
}

function toMembership(userId: string, member: MemberRow, organization: OrganizationRow): Membership {
  return {
    organisationId: organization.id,
    organisationName: organization.name,
    // A role that this release does not know gets the fewest rights.
    role: isRole(member.role) ? member.role : "viewer",
    isPersonal: organization.slug === personalSlug(userId),
  };
}
