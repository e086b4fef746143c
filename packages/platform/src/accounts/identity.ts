import { bootstrap } from "./bootstrap.ts";
import type { BootstrapOptions, Bootstrapped } from "./bootstrap.ts";
import { retryTransient } from "../postgres/retry.ts";
import { hasUsers } from "../store/users.ts";
import type { LibraryOptions } from "./library.ts";
import { createLibraryLoader } from "./library-loader.ts";
import { createMemberships } from "./memberships.ts";
import type { Memberships } from "./memberships.ts";
import { createPersonalAccessTokens } from "./personal-access-tokens.ts";
import type { PersonalAccessTokens } from "./personal-access-tokens.ts";
import { createUsers } from "./users.ts";
import type { Users } from "./users.ts";

/** What users and tokens are managed with. */
export interface IdentityOptions extends LibraryOptions {
  /** Milliseconds since the epoch; default: `Date.now`. */
  readonly now?: () => number;
  /** For how long a restart of the database is waited out, in milliseconds; default 10,000. */
  readonly retryMilliseconds?: number;
}

/** Users, their memberships and their tokens. Only this folder knows the library behind it (better-auth). */
export interface Identity extends Users, Memberships, PersonalAccessTokens {
  /** On an empty database: creates the first user, organisation and personal access token. Null: there is a user already. */
  readonly bootstrap: (options?: BootstrapOptions) => Promise<Bootstrapped | null>;
  /** Whether the database has any user. */
  readonly hasUsers: () => Promise<boolean>;
}

const DEFAULT_RETRY = 10_000;

/** Creates the management of users. Nothing has to be closed; the pool belongs to the caller. */
export function createIdentity(options: IdentityOptions): Identity {
  const load = createLibraryLoader(options);
  const now = options.now ?? Date.now;
  const users = createUsers(load);
  const memberships = createMemberships(load, now);
  const tokens = createPersonalAccessTokens(load, now);
  const retryMilliseconds = options.retryMilliseconds ?? DEFAULT_RETRY;
  const read = createGuard({ retryMilliseconds, idempotent: true });
  const write = createGuard({ retryMilliseconds: 0, idempotent: false });
  return {
    createUser: write(users.createUser),
    findUser: read(users.findUser),
    findMembership: read(memberships.findMembership),
    listOrganisations: read(memberships.listOrganisations),
    addMember: write(memberships.addMember),
    verifyToken: read(tokens.verifyToken),
    createPersonalAccessToken: write(tokens.createPersonalAccessToken),
    listPersonalAccessTokens: read(tokens.listPersonalAccessTokens),
    revokePersonalAccessToken: write(tokens.revokePersonalAccessToken),
    hasUsers: read(() => hasUsers(options.pool)),
    bootstrap: write((bootstrapOptions: BootstrapOptions = {}) =>
      bootstrap({ pool: options.pool, users, tokens }, bootstrapOptions),
    ),
  };
}

/** The library does not repeat statements while the server restarts: reads are repeated here, writes fail as UNAVAILABLE. */
function createGuard(retry: { readonly retryMilliseconds: number; readonly idempotent: boolean }) {
  return <Args extends readonly unknown[], Result>(work: (...args: Args) => Promise<Result>) =>
    (...args: Args): Promise<Result> =>
      retryTransient(retry, (markSent) => {
        markSent();
        return work(...args);
      });
}
