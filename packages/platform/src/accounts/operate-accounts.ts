import { Problem } from "@platform/contract/problems";
import { MINUTE } from "@platform/engine/base/time";
import type {
  OperatedOrganisation,
  OrganisationFilter,
  OrganisationOperations,
} from "../store/accounts/operate-organisations.ts";
import type { OperatedUser, UserFilter, UserOperations } from "../store/accounts/operate-users.ts";
import type { Page } from "../store/base/page.ts";
import { createLinkToken } from "./link-tokens.ts";
import { normaliseEmail } from "./users.ts";

export type { OperatedOrganisation } from "../store/accounts/operate-organisations.ts";
export type { OperatedUser } from "../store/accounts/operate-users.ts";

/** A link that an operator hands to a user. */
interface HandedLink {
  readonly email: string;
  readonly url: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** What operators do with accounts of all organisations. */
export interface OperatedAccounts {
  /** Newest first. */
  readonly listUsers: (filter: UserFilter) => Promise<Page<OperatedUser>>;
  /** Disables a user, whose sessions, tokens and links end; or enables one again. `by`: the operator. @throws Problem NOT_FOUND, CONFLICT */
  readonly setUserDisabled: (userId: string, disabled: boolean, by: string) => Promise<OperatedUser>;
  /** The only copy of a link with which the user sets a password. @throws Problem NOT_FOUND, CONFLICT */
  readonly createResetLink: (userId: string, minutes: number, by: string) => Promise<HandedLink>;
  /** Newest first. */
  readonly listAllOrganisations: (filter: OrganisationFilter) => Promise<Page<OperatedOrganisation>>;
  /** For the server's command line; see `UserOperations`. */
  readonly setOperator: (email: string, isOperator: boolean) => ReturnType<UserOperations["setOperator"]>;
}

/** What it works with. */
interface OperatedAccountsDeps {
  readonly users: UserOperations;
  readonly organisations: OrganisationOperations;
  /** Origin of links. */
  readonly apiUrl: string;
  /** Called when what is cached of users may be wrong. */
  readonly onChange: () => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Operates accounts. */
export function createOperatedAccounts(deps: OperatedAccountsDeps): OperatedAccounts {
  const { users, organisations, apiUrl, onChange, now } = deps;
  return {
    listUsers: users.list,
    setUserDisabled: async (userId, disabled, by) => {
      if (disabled && userId.toLowerCase() === by)
        throw new Problem("CONFLICT", "You cannot disable yourself; another operator can.");
      const isKnown = await users.setDisabled({ userId, disabled, by });
      onChange();
      const user = isKnown ? await users.find(userId) : null;
      if (user === null) throw unknownUser();
      return user;
    },
    createResetLink: async (userId, minutes, by) => {
      const { token, hash: tokenHash } = createLinkToken();
      const expiresAt = now() + minutes * MINUTE;
      const made = await users.createResetLink({ userId, by, tokenHash, expiresInMinutes: minutes });
      if (made === null) throw unknownUser();
      if (made === "disabled")
        throw new Problem("CONFLICT", "This user is disabled; enable them first, and make a link then.");
      return { email: made.email, url: `${apiUrl}/reset-password/${token}`, expiresAt };
    },
    listAllOrganisations: organisations.list,
    setOperator: (email, isOperator) => users.setOperator(normaliseEmail(email), isOperator),
  };
}

function unknownUser(): Problem {
  return new Problem("NOT_FOUND", "There is no such user.");
}
