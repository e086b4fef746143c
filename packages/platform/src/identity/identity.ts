import type { Pool } from "pg";
import type { Logger } from "../postgres/logger.ts";
import { bootstrap } from "./bootstrap.ts";
import type { BootstrapOptions, Bootstrapped } from "./bootstrap.ts";
import { createLibraryLoader } from "./library-loader.ts";
import { createMemberships } from "./memberships.ts";
import type { Memberships } from "./memberships.ts";
import { createPersonalAccessTokens } from "./personal-access-tokens.ts";
import type { PersonalAccessTokens } from "./personal-access-tokens.ts";
import { createUsers } from "./users.ts";
import type { Users } from "./users.ts";

export interface IdentityOptions {
  readonly pool: Pool;
  /** The platform's secret; keys for single purposes are derived from it. */
  readonly secret: string;
  /** Origin of the platform API, e.g. `http://127.0.0.1:8090`. */
  readonly baseUrl: string;
  readonly logger: Logger;
  readonly now?: () => number;
}

/** Who somebody is and where they belong. The library behind it is known to this room only. */
export interface Identity extends Users, Memberships, PersonalAccessTokens {
  /** On an empty database: makes the first user, organisation and personal access token. Null when there is a user already. */
  readonly bootstrap: (options?: BootstrapOptions) => Promise<Bootstrapped | null>;
  /** Loads the library before the first request needs it. */
  readonly warmUp: () => Promise<void>;
}

/** Owns nothing that must be closed: the pool is the caller's. */
export function createIdentity(options: IdentityOptions): Identity {
  const load = createLibraryLoader(options);
  const now = options.now ?? Date.now;
  const users = createUsers(load);
  const memberships = createMemberships(load, now);
  const tokens = createPersonalAccessTokens(load, now);
  return {
    ...users,
    ...memberships,
    ...tokens,
    bootstrap: (bootstrapOptions = {}) => bootstrap({ load, users, tokens }, bootstrapOptions),
    warmUp: async () => {
      await load();
    },
  };
}
