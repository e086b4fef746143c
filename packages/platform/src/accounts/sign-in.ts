import { Problem } from "@platform/contract/problems";
import { nameNetwork } from "../base/client-address.ts";
import type { SessionStore } from "../store/accounts/sessions.ts";
import type { UserStore } from "../store/accounts/users.ts";
import { noteAudit } from "../store/audit/trail.ts";
import type { Attempts } from "./attempts.ts";
import type { Passwords } from "./passwords.ts";
import { normaliseEmail } from "./users.ts";

/** Checks passwords, and limits who guesses. */
export interface SignIn {
  /** @throws Problem INVALID_CREDENTIALS, the same for a wrong password as for an unknown address; RATE_LIMITED */
  readonly checkPassword: (credentials: Credentials) => Promise<CheckedUser>;
  /**
   * Replaces the password, and ends all sessions of the user but one (null: all).
   * @throws Problem INVALID_INPUT when the current one is wrong, RATE_LIMITED, CONFLICT when it was changed meanwhile
   */
  readonly changePassword: (change: PasswordWish) => Promise<void>;
}

/** Whose password was right. */
interface CheckedUser {
  readonly userId: string;
  /** As it is stored now. */
  readonly passwordHash: string;
}

/** Who wants to sign in. */
interface Credentials {
  readonly email: string;
  readonly password: string;
  /** Address of the client. */
  readonly ip: string;
}

/** A password to be changed. */
interface PasswordWish {
  readonly userId: string;
  readonly current: string;
  readonly next: string;
  readonly keptSessionId: string | null;
}

/** What sign-in works with. */
export interface SignInDeps {
  readonly users: Pick<UserStore, "find" | "findSecret" | "changePassword" | "rehash">;
  readonly attempts: Attempts;
  readonly passwords: Passwords;
  readonly sessions: Pick<SessionStore, "listClients">;
}

/** Signs in with passwords. */
export function createSignIn({ users, attempts, passwords, sessions }: SignInDeps): SignIn {
  const check = async (email: string, password: string): Promise<CheckedUser | null> => {
    const secret = await users.findSecret(email);
    if (secret !== null) noteAudit({ actorId: secret.userId });
    const { isValid, isOutdated } = await passwords.verify(secret?.passwordHash ?? null, password);
    if (secret === null || secret.passwordHash === null || !isValid) return null;
    const { userId, passwordHash: former } = secret;
    if (!isOutdated) return { userId, passwordHash: former };
    const next = await passwords.hash(password);
    if (await users.rehash({ userId, former, next })) return { userId, passwordHash: next };
    // Another sign-in was faster, or the password has changed.
    return await check(email, password);
  };
  return {
    checkPassword: async ({ email: given, password, ip }) => {
      const email = normaliseEmail(given);
      const guess = await attempts.takeGuess({
        email,
        ip,
        isKnown: await isKnownNetwork(sessions, email, ip),
      });
      const checked = await check(email, password);
      if (checked === null) throw new Problem("INVALID_CREDENTIALS");
      await guess.wasRight();
      return checked;
    },
    changePassword: async ({ userId, current, next, keptSessionId }) => {
      const user = await users.find(userId);
      if (user === null) throw new Problem("UNAUTHENTICATED", "This user is disabled.");
      const { email } = user;
      // By itself: whoever knows the address could keep its user from changing a password that leaked.
      await attempts.takeOfAccount("password", email);
      const secret = await users.findSecret(email);
      const { isValid } = await passwords.verify(secret?.passwordHash ?? null, current);
      if (secret === null || secret.passwordHash === null || !isValid) throw refuseCurrent();
      await attempts.forgetAccount("password", email);
      const change = { userId, former: secret.passwordHash, next: await passwords.hash(next), keptSessionId };
      if (await users.changePassword(change)) return;
      throw new Problem("CONFLICT", "The password was changed by another request meanwhile.");
    },
  };
}

/** Whether the user has signed in from the client's network: strangers elsewhere do not keep them from signing in there. */
async function isKnownNetwork(sessions: SignInDeps["sessions"], email: string, ip: string): Promise<boolean> {
  const network = nameNetwork(ip);
  const clients = await sessions.listClients(email);
  return clients.some((client) => nameNetwork(client) === network);
}

function refuseCurrent(): Problem {
  const message = "The current password is wrong.";
  return new Problem("INVALID_INPUT", message, { errors: [{ path: "/currentPassword", message }] });
}
