import { Problem } from "@platform/contract/problems";
import type { SignUpMode } from "../config/accounts.ts";
import type { InvitationStore } from "../store/accounts/invitations.ts";
import type { Attempts } from "./attempts.ts";
import type { Links } from "./links.ts";
import { hashLinkToken } from "./link-tokens.ts";
import { refuseAcceptance } from "./refuse-acceptance.ts";
import type { Users } from "./users.ts";
import { normaliseEmail } from "./users.ts";

/** An account to be created. */
interface SignUpWish {
  readonly name: string;
  readonly email: string;
  readonly password: string;
  /** Token of an invitation's link. */
  readonly invitation?: string;
  /** Address of the client. */
  readonly ip: string;
}

/** Creates accounts for those who ask. */
export interface SignUp {
  readonly signUpMode: SignUpMode;
  /**
   * Returns the user's id.
   * @throws Problem FORBIDDEN (not open, invitation for another address), NOT_FOUND, LINK_EXPIRED, CONFLICT (address taken), RATE_LIMITED
   */
  readonly signUp: (wish: SignUpWish) => Promise<string>;
}

/** What sign-up works with. */
export interface SignUpDeps {
  readonly mode: SignUpMode;
  readonly users: Pick<Users, "createUser">;
  readonly invitations: Pick<InvitationStore, "view">;
  readonly attempts: Attempts;
  readonly links: Pick<Links, "sendVerification">;
}

/** Signs users up. */
export function createSignUp({ mode, users, invitations, attempts, links }: SignUpDeps): SignUp {
  const check = async (token: string | undefined): Promise<string | null> => {
    if (token === undefined) return null;
    const hash = hashLinkToken(token);
    // Before a password is hashed; whether it can still be accepted is decided where the user is stored.
    const found = hash === null ? null : await invitations.view(hash);
    if (hash === null || found === null) throw refuseAcceptance("unknown");
    if (!found.isOpen) throw refuseAcceptance("closed");
    return hash;
  };
  return {
    signUpMode: mode,
    signUp: async ({ invitation, ip, ...wish }) => {
      if (mode === "closed")
        throw new Problem("FORBIDDEN", "Nobody can sign up on this platform; ask its operator.");
      if (mode === "invitation" && invitation === undefined)
        throw new Problem(
          "FORBIDDEN",
          "Only who is invited can sign up on this platform; ask an owner of an organisation for a link.",
        );
      await attempts.takeOfClient("sign-up", ip);
      const invitationHash = await check(invitation);
      const { userId } = await users.createUser({
        ...wish,
        ...(invitationHash === null ? {} : { invitationHash }),
      });
      try {
        await links.sendVerification({ userId, email: normaliseEmail(wish.email) });
      } catch (error) {
        // There is a user now, who can ask for the mail later.
        if (!(error instanceof Problem && error.code === "RATE_LIMITED")) throw error;
      }
      return userId;
    },
  };
}
