import { readMonotonic } from "@platform/engine/base/monotonic";
import type { OidcSettings, SignUpMode } from "../config/accounts.ts";
import type { Database } from "../postgres/database.ts";
import { createExternalLoginStore } from "../store/accounts/external-logins.ts";
import { createInvitationStore } from "../store/accounts/invitations.ts";
import { createDeviceLoginStore } from "../store/accounts/device-logins.ts";
import { createOrganisationOperations } from "../store/accounts/operate-organisations.ts";
import { createUserOperations } from "../store/accounts/operate-users.ts";
import { createMemberStore } from "../store/accounts/members.ts";
import { createOrganisationStore } from "../store/accounts/organisations.ts";
import { createLinkStore } from "../store/accounts/one-time-tokens.ts";
import { createTokenStore } from "../store/accounts/personal-access-tokens.ts";
import { createSessionStore } from "../store/accounts/sessions.ts";
import { createAttemptStore } from "../store/accounts/sign-in-attempts.ts";
import { createUserStore } from "../store/accounts/users.ts";
import { auditChanges } from "../store/audit/trail.ts";
import { ACCOUNTS_CHANNEL } from "../store/base/channels.ts";
import { createRateBucketStore } from "../store/rate-buckets.ts";
import { createAttempts } from "./attempts.ts";
import { bootstrap } from "./bootstrap.ts";
import type { BootstrapOptions, Bootstrapped } from "./bootstrap.ts";
import { createExternalSignIn } from "./external-sign-in.ts";
import type { ExternalSignIn } from "./external-sign-in.ts";
import { createInvitations } from "./invitations.ts";
import type { Invitations } from "./invitations.ts";
import { createDeviceLogins } from "./device-login.ts";
import type { DeviceLogins } from "./device-login.ts";
import { createLinks } from "./links.ts";
import type { Links } from "./links.ts";
import type { Mailer } from "./mailer.ts";
import { createMemberships } from "./memberships.ts";
import type { Memberships } from "./memberships.ts";
import { createOidcClient } from "./oidc.ts";
import { createOperatedAccounts } from "./operate-accounts.ts";
import type { OperatedAccounts } from "./operate-accounts.ts";
import { createOrganisations } from "./organisations.ts";
import type { Organisations } from "./organisations.ts";
import { createPasswords } from "./passwords.ts";
import { createPersonalAccessTokens } from "./personal-access-tokens.ts";
import type { PersonalAccessTokens } from "./personal-access-tokens.ts";
import { createSessions } from "./sessions.ts";
import type { Sessions } from "./sessions.ts";
import { createSignIn } from "./sign-in.ts";
import type { SignIn } from "./sign-in.ts";
import { createSignUp } from "./sign-up.ts";
import type { SignUp } from "./sign-up.ts";
import { createUsers } from "./users.ts";
import type { Users } from "./users.ts";

/** What users and tokens are managed with. */
export interface IdentityOptions {
  readonly database: Database;
  /** Who can create an account; default: nobody. */
  readonly signUpMode?: SignUpMode;
  /** The OpenID provider at which users can sign in; default: none. */
  readonly oidc?: OidcSettings | null;
  /** Brings links to users; default: to nobody. */
  readonly mailer?: Mailer;
  /** Origin of the platform API as browsers see it: of links; default: http://localhost:8090. */
  readonly apiUrl?: string;
  /** Milliseconds since the epoch; default: `Date.now`. */
  readonly now?: () => number;
  /** Milliseconds since any fixed moment, by which answers are cached; default: the monotonic clock, which nobody sets back. */
  readonly elapsed?: () => number;
}

/** Users, how they sign in, their memberships, tokens and sessions. */
export interface Identity
  extends
    Users,
    SignIn,
    Organisations,
    Invitations,
    DeviceLogins,
    Links,
    SignUp,
    ExternalSignIn,
    OperatedAccounts,
    Omit<Memberships, "forgetMemberships">,
    Omit<PersonalAccessTokens, "forgetTokens">,
    Omit<Sessions, "forgetSessions"> {
  /** On an empty database: creates the first user, organisation and personal access token. Null: there is a user already. */
  readonly bootstrap: (options?: BootstrapOptions) => Promise<Bootstrapped | null>;
  /**
   * From now on a change that any process makes is seen at once, and within a second where notifications are lost; otherwise within
   * the seconds for which answers are cached.
   * Returns a function that stops it.
   */
  readonly watch: () => () => void;
}

const DEFAULT_API_URL = "http://localhost:8090";
/** Where nobody can ask for a link. */
const NO_MAILER: Mailer = {
  sendsMail: false,
  send: () => undefined,
  prepare: () => undefined,
  close: async () => undefined,
};

/** Creates the management of users. Nothing has to be closed; the database belongs to the caller. */
export function createIdentity(options: IdentityOptions): Identity {
  const { now = Date.now, elapsed = readMonotonic } = options;
  const database = auditChanges(options.database);
  const userStore = createUserStore(database);
  const passwords = createPasswords();
  const users = createUsers(userStore, passwords);
  const attempts = createAttempts(createAttemptStore(database), createRateBucketStore(database));
  const invitations = createInvitationStore(database);
  const sessionStore = createSessionStore(database);
  const { changePassword, ...signIn } = createSignIn({
    users: userStore,
    attempts,
    passwords,
    sessions: sessionStore,
  });
  const members = createMemberStore(database);
  const { forgetMemberships, ...memberships } = createMemberships(members, elapsed);
  const { forgetTokens, ...tokens } = createPersonalAccessTokens(createTokenStore(database), now, elapsed);
  const { forgetSessions, ...sessions } = createSessions(sessionStore, now, elapsed);
  const { mailer = NO_MAILER, apiUrl = DEFAULT_API_URL, signUpMode: mode = "closed" } = options;
  const stores = { users: userStore, links: createLinkStore(database) };
  const links = createLinks({ ...stores, attempts, passwords, mailer, apiUrl });
  const forgetAll = () => {
    forgetMemberships();
    forgetTokens();
    forgetSessions();
  };
  return {
    ...users,
    ...signIn,
    ...memberships,
    ...createOrganisations(createOrganisationStore(database), members, forgetMemberships),
    ...createDeviceLogins(createDeviceLoginStore(database), now),
    ...createInvitations(invitations, forgetMemberships),
    ...tokens,
    ...sessions,
    ...links,
    resetPassword: async (...change) => {
      await links.resetPassword(...change);
      forgetAll();
    },
    ...createExternalSignIn({
      client: options.oidc ? createOidcClient(options.oidc, `${apiUrl}/sign-in/callback`) : null,
      mode,
      onTakeOver: forgetAll,
      logins: createExternalLoginStore(database),
      users,
      userStore,
    }),
    ...operateAccounts(database, { apiUrl, onChange: forgetAll, now }),
    ...createSignUp({ mode, users, invitations, attempts, links }),
    changePassword: async (change) => {
      await changePassword(change);
      forgetSessions();
    },
    bootstrap: (wanted = {}) => bootstrap(users, wanted, now()),
    watch: () =>
      database.listen(ACCOUNTS_CHANNEL, { onNotify: forgetAll, onReset: forgetAll, onSilence: forgetAll }),
  };
}

function operateAccounts(
  database: Database,
  given: Omit<Parameters<typeof createOperatedAccounts>[0], "users" | "organisations">,
): OperatedAccounts {
  const users = createUserOperations(database);
  return createOperatedAccounts({ ...given, users, organisations: createOrganisationOperations(database) });
}
