import { randomUUID } from "node:crypto";
import { Problem } from "@platform/contract/problems";
import { ROLES } from "@platform/contract/permissions";
import type { Role } from "@platform/contract/permissions";
import type {
  InvitationGuest,
  InvitationRecord,
  InvitationStore,
  InvitationView,
} from "../store/accounts/invitations.ts";
import { createLinkToken, hashLinkToken } from "./link-tokens.ts";
import { refuseAcceptance } from "./refuse-acceptance.ts";
import { normaliseEmail } from "./users.ts";

/** An invitation that is open, or was declined. */
export interface Invitation extends InvitationRecord {
  readonly role: Role;
}

/** An invitation to be made. */
interface InvitationWish {
  readonly organisationId: string;
  readonly invitedBy: string;
  /** Missing: for whoever has the link. */
  readonly email?: string;
  readonly role: Role;
  /** Default: 7. */
  readonly expiresInDays?: number;
}

/** Invitations to organisations: links that make their reader a member, once. */
export interface Invitations {
  /** `token` in the answer is the only copy: only its hash is stored. @throws Problem CONFLICT, QUOTA_EXCEEDED, FORBIDDEN */
  readonly createInvitation: (wish: InvitationWish) => Promise<Invitation & { readonly token: string }>;
  /** Open ones, and those that were declined until they would have expired; newest first. */
  readonly listInvitations: (
    organisationId: string,
    page: { readonly limit: number; readonly offset: number },
  ) => Promise<readonly Invitation[]>;
  /** One that was declined leaves the list. False: the organisation has no such invitation in its list. */
  readonly revokeInvitation: (organisationId: string, id: string) => Promise<boolean>;
  /** @throws Problem NOT_FOUND, LINK_EXPIRED */
  readonly viewInvitation: (token: string) => Promise<Omit<InvitationView, "role"> & { readonly role: Role }>;
  /** Returns the id of the organisation. @throws Problem NOT_FOUND, LINK_EXPIRED, FORBIDDEN, CONFLICT */
  readonly acceptInvitation: (token: string, guest: InvitationGuest) => Promise<string>;
  /** Nobody can accept it any more. @throws Problem NOT_FOUND, LINK_EXPIRED */
  readonly declineInvitation: (token: string) => Promise<void>;
}

const DEFAULT_DAYS = 7;

/** Manages invitations. `onChange`: what is remembered of memberships may have changed. */
export function createInvitations(store: InvitationStore, onChange: () => void): Invitations {
  return {
    createInvitation: async ({ email, expiresInDays = DEFAULT_DAYS, ...wish }) => {
      const { token, hash } = createLinkToken();
      const row = {
        id: randomUUID(),
        email: email === undefined ? null : normaliseEmail(email),
        expiresInDays,
      };
      const created = await store.create({ ...wish, ...row, tokenHash: hash });
      if (typeof created === "string") throw refuseCreation(created);
      return { ...toInvitation(created), token };
    },
    listInvitations: async (organisationId, page) =>
      (await store.list(organisationId, page)).map(toInvitation),
    revokeInvitation: store.revoke,
    viewInvitation: async (token) => {
      const hash = hashLinkToken(token);
      const found = hash === null ? null : await store.view(hash);
      if (found === null) throw refuseAcceptance("unknown");
      if (!found.isOpen) throw refuseAcceptance("closed");
      return { ...found, role: toRole(found.role) };
    },
    acceptInvitation: async (token, guest) => {
      const hash = hashLinkToken(token);
      const result = hash === null ? "unknown" : await store.accept(hash, guest);
      if (typeof result === "string") throw refuseAcceptance(result);
      onChange();
      return result.organisationId;
    },
    declineInvitation: async (token) => {
      const hash = hashLinkToken(token);
      const result = hash === null ? "unknown" : await store.decline(hash);
      if (result !== "declined") throw refuseAcceptance(result);
    },
  };
}

function refuseCreation(reason: "member already" | "not allowed"): Problem {
  if (reason === "member already")
    return new Problem("CONFLICT", "The user with this address is a member already.");
  return new Problem("FORBIDDEN", "Only owners may invite; you are none any more.");
}

function toInvitation(record: InvitationRecord): Invitation {
  return { ...record, role: toRole(record.role) };
}

function toRole(stored: string): Role {
  return ROLES.find((role) => role === stored) ?? "viewer";
}
