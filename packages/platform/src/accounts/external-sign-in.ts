import { isEmailAddress } from "@platform/contract/platform-api/common";
import { Problem } from "@platform/contract/problems";
import type { SignUpMode } from "../config/accounts.ts";
import type { ExternalLoginStore } from "../store/accounts/external-logins.ts";
import { noteAudit } from "../store/audit/trail.ts";
import type { UserStore } from "../store/accounts/users.ts";
import type { ExternalUser, OidcClient } from "./oidc.ts";
import type { Users } from "./users.ts";
import { hasPlainCapitals, normaliseEmail } from "./users.ts";

/** Signing in at an OpenID provider. */
export interface ExternalSignIn {
  /** What people call the provider; null: there is none. */
  readonly externalProvider: string | null;
  /** @throws Problem NOT_FOUND without a provider, UNAVAILABLE */
  readonly startExternal: OidcClient["start"];
  /**
   * Returns the user's id; a new user is made where sign-up allows it.
   * @throws Problem NOT_FOUND without a provider, INVALID_CREDENTIALS, FORBIDDEN, CONFLICT, UNAVAILABLE
   */
  readonly finishExternal: (parameters: string, secret: string) => Promise<string>;
}

/** What it works with. */
export interface ExternalSignInDeps {
  /** What is remembered of users may have changed. */
  readonly onTakeOver: () => void;
  readonly client: OidcClient | null;
  readonly mode: SignUpMode;
  readonly logins: ExternalLoginStore;
  readonly users: Pick<Users, "createUser">;
  readonly userStore: Pick<UserStore, "find" | "findSecret">;
}

/** Signs in users of the provider. */
export function createExternalSignIn(deps: ExternalSignInDeps): ExternalSignIn {
  const { client } = deps;
  const requireClient = (): OidcClient => {
    if (client !== null) return client;
    throw new Problem("NOT_FOUND", "This platform has no identity provider; sign in with a password.");
  };
  return {
    externalProvider: client?.name ?? null,
    startExternal: async () => await requireClient().start(),
    finishExternal: async (parameters, secret) => {
      const userId = await findOrCreate(deps, await requireClient().finish(parameters, secret));
      noteAudit({ actorId: userId });
      return userId;
    },
  };
}

async function findOrCreate(deps: ExternalSignInDeps, external: ExternalUser): Promise<string> {
  const { logins } = deps;
  const known = await logins.find(external);
  if (known !== null) return known;
  try {
    return await linkOrCreate(deps, external);
  } catch (error) {
    // Their first sign-in in another browser, at the same moment, may have been faster.
    const linked = await logins.find(external);
    if (linked !== null) return linked;
    throw error;
  }
}

/** For who has not signed in by the provider yet. Of several at once all but one are refused. */
async function linkOrCreate(deps: ExternalSignInDeps, external: ExternalUser): Promise<string> {
  const { logins, userStore } = deps;
  if (external.verifiedEmail === null || !isPlain(external.verifiedEmail))
    throw new Problem("FORBIDDEN", "The identity provider does not confirm an email address of yours.");
  const email = normaliseEmail(external.verifiedEmail);
  const secret = await userStore.findSecret(email);
  const user = secret === null ? null : await userStore.find(secret.userId);
  if (user === null) return await createUser(deps, external, email);
  if (user.isEmailVerified) await logins.link(external, user.id);
  // Whoever made the account may only have claimed the address: its owner gets it without what was made before.
  else if (await logins.takeOver(external, user.id)) deps.onTakeOver();
  else
    throw new Problem(
      "CONFLICT",
      "There is an account with your email address, which is not verified; sign in with its password and verify it first.",
    );
  return user.id;
}

/** As an address that is typed at sign-up: strangers are shown it. */
function isPlain(email: string): boolean {
  return isEmailAddress(email) && hasPlainCapitals(email);
}

async function createUser({ users, mode }: ExternalSignInDeps, external: ExternalUser, email: string) {
  if (mode !== "open")
    throw new Problem("FORBIDDEN", "You have no account on this platform, and cannot make one by yourself.");
  const { issuer, subject, name } = external;
  const { userId } = await users.createUser({
    email,
    name: name ?? email,
    password: null,
    externalLogin: { issuer, subject },
  });
  return userId;
}
