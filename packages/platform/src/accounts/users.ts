import { randomUUID } from "node:crypto";
import { Problem } from "@platform/contract/problems";
import type { LoadLibrary, LoadedLibrary } from "./library-loader.ts";

/** A user. */
interface User {
  readonly id: string;
  readonly email: string;
  readonly name: string;
}

/** A user to be created, with an organisation of their own. */
interface NewUser {
  readonly email: string;
  readonly name: string;
  readonly password: string;
  /** UUIDs of the user and of their organisation; default: random ones. */
  readonly id?: string;
  readonly organisationId?: string;
}

/** The users of the platform. */
export interface Users {
  /** Creates the user and their own organisation in one transaction. @throws Problem CONFLICT when the address is taken */
  readonly createUser: (
    user: NewUser,
  ) => Promise<{ readonly userId: string; readonly organisationId: string }>;
  /** Null: there is no such user. */
  readonly findUser: (userId: string) => Promise<User | null>;
}

/** Slug of a user's own organisation. Slugs are unique, so each user has at most one. */
export function personalSlug(userId: string): string {
  return `personal-${userId}`;
}

/** Manages users through the library. */
export function createUsers(load: LoadLibrary): Users {
  return {
    createUser: async (user) => {
      const library = await load();
      const email = user.email.toLowerCase();
      if (await library.context.internalAdapter.findUserByEmail(email)) {
        throw new Problem("CONFLICT", `A user with the address ${email} exists already.`);
      }
      return await insertUser(library, { ...user, email });
    },
    findUser: async (userId) => {
      const { context } = await load();
      const user = await context.internalAdapter.findUserById(userId);
      return user ? { id: user.id, email: user.email, name: user.name } : null;
    },
  };
}

async function insertUser(library: LoadedLibrary, user: NewUser) {
  const { context } = library;
  const password = await context.password.hash(user.password);
  const userId = user.id ?? randomUUID();
  const organisationId = user.organisationId ?? randomUUID();
  const times = { createdAt: new Date(), updatedAt: new Date() };
  await context.adapter.transaction(async (transaction) => {
    const insert = (model: string, data: Record<string, unknown>) =>
      transaction.create({ model, data, forceAllowId: true });
    await insert("user", { id: userId, name: user.name, email: user.email, emailVerified: false, ...times });
    await insert("account", { userId, accountId: userId, providerId: "credential", password, ...times });
    await insert("organization", {
      id: organisationId,
      name: user.name,
      slug: personalSlug(userId),
      createdAt: times.createdAt,
    });
    await insert("member", {
      organizationId: organisationId,
      userId,
      role: "owner",
      createdAt: times.createdAt,
    });
  });
  return { userId, organisationId };
}
