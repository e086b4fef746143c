import { randomUUID } from "node:crypto";
import { Problem } from "@platform/contract/problems";
import { ROLES } from "@platform/contract/permissions";
import type { Role } from "@platform/contract/permissions";
import type { ListedMember, MemberChange, MemberStore } from "../store/accounts/members.ts";
import type { DeletionObstacles, OrganisationStore } from "../store/accounts/organisations.ts";
import { createSlug } from "./slug.ts";

/** A member as the others see them. */
export interface Member extends ListedMember {
  readonly role: Role;
}

/** Organisations and their members. */
export interface Organisations {
  /** Returns its id; the user is its owner. @throws Problem CONFLICT when the slug is taken, QUOTA_EXCEEDED */
  readonly createOrganisation: (
    ownerId: string,
    wanted: { readonly name: string; readonly slug?: string },
  ) => Promise<string>;
  /** @throws Problem CONFLICT when the slug is taken, NOT_FOUND */
  readonly renameOrganisation: (
    id: string,
    wanted: { readonly name?: string; readonly slug?: string },
  ) => Promise<void>;
  /** @throws Problem CONFLICT while something is in the way, NOT_FOUND */
  readonly deleteOrganisation: (id: string, by: string) => Promise<void>;
  /** Those who joined first come first. */
  readonly listMembers: (
    organisationId: string,
    page: { readonly limit: number; readonly offset: number },
  ) => Promise<readonly Member[]>;
  /** @throws Problem LAST_OWNER, CONFLICT, FORBIDDEN, NOT_FOUND; likewise `removeMember` */
  readonly changeRole: (change: MemberChange & { readonly role: Role }) => Promise<Member>;
  readonly removeMember: (change: Omit<MemberChange, "role">) => Promise<void>;
}

/** Manages organisations. `onChange`: what is remembered of memberships may have changed. */
export function createOrganisations(
  organisations: OrganisationStore,
  members: MemberStore,
  onChange: () => void,
): Organisations {
  const change = async (wanted: MemberChange): Promise<void> => {
    const result = await members.change(wanted);
    onChange();
    if (result !== "changed") throw refuseChange(result);
  };
  return {
    createOrganisation: async (ownerId, { name, slug = createSlug(name) }) => {
      const id = randomUUID();
      const result = await organisations.create({ id, name, slug, ownerId });
      if (result === "slug taken") throw refuseSlug(slug);
      onChange();
      return id;
    },
    renameOrganisation: async (id, { name, slug }) => {
      const result = await organisations.update({ id, name: name ?? null, slug: slug ?? null });
      if (result === "slug taken") throw refuseSlug(slug ?? "");
      if (result === "unknown") throw new Problem("NOT_FOUND", "There is no such organisation.");
      onChange();
    },
    deleteOrganisation: async (id, by) => {
      const result = await organisations.delete(id, by);
      onChange();
      if (result === null) throw new Problem("NOT_FOUND", "There is no such organisation.");
      if (result !== "deleted") throw new Problem("CONFLICT", explainObstacles(result));
    },
    listMembers: async (organisationId, page) => (await members.list(organisationId, page)).map(toMember),
    changeRole: async (wanted) => {
      await change(wanted);
      const found = await members.findListed(wanted.organisationId, wanted.userId);
      if (found === null) throw refuseChange("unknown");
      return toMember(found);
    },
    removeMember: (wanted) => change({ ...wanted, role: null }),
  };
}

function toMember(member: ListedMember): Member {
  return { ...member, role: ROLES.find((role) => role === member.role) ?? "viewer" };
}

function refuseSlug(slug: string): Problem {
  const message = `There is an organisation with the slug ${slug} already; choose another one.`;
  return new Problem("CONFLICT", message, { errors: [{ path: "/slug", message }] });
}

function refuseChange(reason: "unknown" | "personal" | "last owner" | "not allowed"): Problem {
  switch (reason) {
    case "unknown":
      return new Problem("NOT_FOUND", "There is no such member.");
    case "personal":
      return new Problem(
        "CONFLICT",
        "This is the user's own organisation, of which they stay owner; create another organisation to hand over.",
      );
    case "last owner":
      return new Problem("LAST_OWNER");
    case "not allowed":
      return new Problem("FORBIDDEN", "Only owners may change members; you are none any more.");
    default:
      return reason satisfies never;
  }
}

function explainObstacles({ isPersonal, executions, builds, subscriptions }: DeletionObstacles): string {
  if (isPersonal) return "This is a user's own organisation, which cannot be deleted.";
  const counted = [
    count(executions, "unfinished execution"),
    count(builds, "unfinished build"),
    count(subscriptions, "subscription of other organisations to its services"),
  ].filter((text) => text !== null);
  return `The organisation has ${counted.join(", ")}; it can be deleted when there are none.`;
}

function count(number: number, what: string): string | null {
  if (number === 0) return null;
  const [head = "", ...rest] = what.split(" of ");
  const words = number === 1 ? head : `${head}s`;
  return `${number} ${[words, ...rest].join(" of ")}`;
}
