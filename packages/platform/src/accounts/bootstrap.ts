import { randomBytes, randomUUID } from "node:crypto";
import type { Pool } from "pg";
import { Problem } from "@platform/contract/problems";
import { hasUsers } from "../store/users.ts";
import type { PersonalAccessTokens } from "./personal-access-tokens.ts";
import type { Users } from "./users.ts";

export interface BootstrapOptions {
  /** Default `admin@platform.local`. */
  readonly email?: string;
  /** Name of the user and of their organisation; default `Platform`. */
  readonly name?: string;
  /** Default: a random one. */
  readonly password?: string;
  /** Gets the login right before the user is committed: nobody can be a user whose password was lost. */
  readonly beforeCommit?: (login: Bootstrapped) => Promise<void>;
}

export interface Bootstrapped {
  readonly email: string;
  readonly password: string;
  readonly organizationId: string;
  readonly personalAccessToken: string;
}

const DEFAULT_EMAIL = "admin@platform.local";
const PASSWORD_BYTES = 18;

/**
 * The token is made before its user: a crash in between leaves an unusable token that nobody was shown, and the
 * next start tries again. The other way round, the database would have a user whom nobody can be.
 * Two processes that race make one user: addresses are unique, and the loser sees that somebody is there.
 */
export async function bootstrap(
  deps: { readonly pool: Pool; readonly users: Users; readonly tokens: PersonalAccessTokens },
  options: BootstrapOptions,
): Promise<Bootstrapped | null> {
  if (await hasUsers(deps.pool)) return null;
  const id = randomUUID();
  const email = options.email ?? DEFAULT_EMAIL;
  const password = options.password ?? randomBytes(PASSWORD_BYTES).toString("base64url");
  const organisationId = randomUUID();
  const token = await deps.tokens.createPersonalAccessToken(id, {
    name: "bootstrap",
    scopes: ["api", "quantum"],
  });
  const login = { email, password, organizationId: organisationId, personalAccessToken: token.token };
  try {
    await options.beforeCommit?.(login);
    await deps.users.createUser({ id, email, name: options.name ?? "Platform", password, organisationId });
    return login;
  } catch (error) {
    // The answer to the commit may be what was lost.
    if ((await deps.users.findUser(id)) !== null) return login;
    await deps.tokens.revokePersonalAccessToken(id, token.id);
    const isTaken = error instanceof Problem && error.code === "CONFLICT";
    if (isTaken || (await hasUsers(deps.pool))) return null;
    throw error;
  }
}
