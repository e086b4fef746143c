import { randomBytes, randomUUID } from "node:crypto";
import type { Pool } from "pg";
import { Problem } from "@platform/contract/problems";
import { hasUsers } from "../store/users.ts";
import type { PersonalAccessTokens } from "./personal-access-tokens.ts";
import type { Users } from "./users.ts";

/** The first user; everything has a default. */
export interface BootstrapOptions {
  /** Default `admin@platform.local`. */
  readonly email?: string;
  /** Name of the user and of their organisation; default `Platform`. */
  readonly name?: string;
  /** Default: a random one. */
  readonly password?: string;
  /** Called with the login right before the user is committed, to store it: the password exists nowhere else. */
  readonly beforeCommit?: (login: Bootstrapped) => Promise<void>;
}

/** The login of the first user. */
export interface Bootstrapped {
  readonly email: string;
  readonly password: string;
  readonly organizationId: string;
  readonly personalAccessToken: string;
}

const DEFAULT_EMAIL = "admin@platform.local";
const PASSWORD_BYTES = 18;

/**
 * Creates the first user, or returns null when there is a user already.
 *
 * The token is created before its user. A crash in between leaves a token that is not usable and was never shown, and the
 * next start tries again; in the opposite order it would leave a user that nobody can log in as. When two processes race,
 * the unique address lets only one create the user, and the other one returns null.
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
    // The commit may have succeeded with only its answer lost.
    if ((await deps.users.findUser(id)) !== null) return login;
    await deps.tokens.revokePersonalAccessToken(id, token.id);
    const isTaken = error instanceof Problem && error.code === "CONFLICT";
    if (isTaken || (await hasUsers(deps.pool))) return null;
    throw error;
  }
}
