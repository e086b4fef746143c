import { randomBytes, randomUUID } from "node:crypto";
import { Problem } from "@platform/contract/problems";
import { prepareToken } from "./personal-access-tokens.ts";
import type { Users } from "./users.ts";

/** The first user; everything has a default. */
export interface BootstrapOptions {
  /** Default `admin@platform.local`. */
  readonly email?: string;
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
 * Creates the first user, who is an operator, or returns null when there is a user already.
 *
 * User, organisation and token are committed together, after `beforeCommit`: a crash leaves all of them or none. When two
 * processes race, the unique address lets only one create the user, and the other one returns null.
 */
export async function bootstrap(
  users: Users,
  options: BootstrapOptions,
  now: number,
): Promise<Bootstrapped | null> {
  if (await users.hasUsers()) return null;
  const id = randomUUID();
  const email = options.email ?? DEFAULT_EMAIL;
  const password = options.password ?? randomBytes(PASSWORD_BYTES).toString("base64url");
  const organisationId = randomUUID();
  const { token, row } = prepareToken(id, { name: "bootstrap", scopes: ["admin", "quantum"] }, now);
  const login = { email, password, organizationId: organisationId, personalAccessToken: token };
  try {
    await options.beforeCommit?.(login);
    await users.createUser({
      id,
      email,
      name: "Administrator",
      password,
      organisationId,
      organisationName: "Platform",
      isOperator: true,
      token: row,
    });
    return login;
  } catch (error) {
    // The commit may have succeeded with only its answer lost.
    if ((await users.findUser(id)) !== null) return login;
    const isTaken = error instanceof Problem && error.code === "CONFLICT";
    if (isTaken || (await users.hasUsers())) return null;
    throw error;
  }
}
