import { randomUUID } from "node:crypto";
import { Problem } from "@platform/contract/problems";
import type { ExternalLogin } from "../store/accounts/external-logins.ts";
import type { NewTokenRow } from "../store/accounts/personal-access-tokens.ts";
import type { UserRecord, UserStore } from "../store/accounts/users.ts";
import { refuseAcceptance } from "./refuse-acceptance.ts";
import type { Passwords } from "./passwords.ts";
import { createSlug } from "./slug.ts";

/** A user to be created, with an organisation of their own. */
interface NewUser {
  readonly email: string;
  readonly name: string;
  /** Null: signs in elsewhere. */
  readonly password: string | null;
  /** UUIDs of the user and of their organisation; default: random ones. */
  readonly id?: string;
  readonly organisationId?: string;
  /** Default: the user's name. */
  readonly organisationName?: string;
  /** Default: false. */
  readonly isOperator?: boolean;
  /** A first token, stored in the same transaction. */
  readonly token?: NewTokenRow;
  /** How an OpenID provider names the user, whose address it has verified. */
  readonly externalLogin?: ExternalLogin;
  /** Hash of an invitation's token; it is accepted in the same transaction, or nothing is created. */
  readonly invitationHash?: string;
}

/** The users of the platform. */
export interface Users {
  /** Creates the user and their own organisation in one transaction. @throws Problem CONFLICT when the address is taken; with an invitation also as `acceptInvitation` */
  readonly createUser: (
    user: NewUser,
  ) => Promise<{ readonly userId: string; readonly organisationId: string }>;
  /** Null: there is no such user. */
  readonly findUser: (userId: string) => Promise<UserRecord | null>;
  readonly renameUser: (userId: string, name: string) => Promise<void>;
  /** Whether the database has any user. */
  readonly hasUsers: () => Promise<boolean>;
}

/** The form in which addresses are stored and looked up. */
export function normaliseEmail(email: string): string {
  return email.trim().toLowerCase();
}

/**
 * Whether each capital of an address is that of its small letter. The sign of Kelvin is not, but is a k in lower case: such an address and
 * the one that it is stored as are two, and may be two people's.
 */
export function hasPlainCapitals(email: string): boolean {
  for (const letter of email) {
    const small = letter.toLowerCase();
    if (small !== letter && small.toUpperCase() !== letter) return false;
  }
  return true;
}

/** Manages users. */
export function createUsers(store: UserStore, passwords: Passwords): Users {
  return {
    createUser: async (user) => {
      const email = normaliseEmail(user.email);
      const id = user.id ?? randomUUID();
      const { name, organisationName = name, isOperator = false } = user;
      const organisation = {
        id: user.organisationId ?? randomUUID(),
        name: organisationName,
        slug: createSlug(organisationName),
      };
      const passwordHash = user.password === null ? null : await passwords.hash(user.password);
      const created = await store.create(
        {
          id,
          email,
          name,
          passwordHash,
          isOperator,
          organisation,
          isEmailVerified: user.externalLogin !== undefined,
        },
        user,
      );
      if (created === "address taken")
        throw new Problem("CONFLICT", `A user with the address ${email} exists already.`);
      if (created !== "created") throw refuseAcceptance(created);
      return { userId: id, organisationId: organisation.id };
    },
    findUser: store.find,
    renameUser: store.rename,
    hasUsers: store.hasAny,
  };
}
