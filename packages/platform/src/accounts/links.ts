import { Problem } from "@platform/contract/problems";
import type { LinkStore } from "../store/accounts/one-time-tokens.ts";
import type { UserStore } from "../store/accounts/users.ts";
import type { Attempts } from "./attempts.ts";
import { createLinkToken, hashLinkToken } from "./link-tokens.ts";
import type { Mailer } from "./mailer.ts";
import type { Passwords } from "./passwords.ts";
import { normaliseEmail } from "./users.ts";

/** Links to users: a forgotten password, an address to be verified, an invitation. */
export interface Links {
  /** Whether links go by mail, and not to the operator's log. */
  readonly sendsMail: boolean;
  /** Does the same where there is no such user. @throws Problem RATE_LIMITED */
  readonly requestPasswordReset: (email: string, ip: string) => Promise<void>;
  /** @throws Problem LINK_EXPIRED, RATE_LIMITED */
  readonly resetPassword: (token: string, password: string, ip: string) => Promise<void>;
  /** Sends nothing when the address is verified already. @throws Problem RATE_LIMITED */
  readonly requestEmailVerification: (userId: string) => Promise<void>;
  /** By the user whose address it is. @throws Problem LINK_EXPIRED */
  readonly verifyEmail: (token: string, userId: string) => Promise<void>;
  /** To a new user. @throws Problem RATE_LIMITED */
  readonly sendVerification: (user: { readonly userId: string; readonly email: string }) => Promise<void>;
  /** Does nothing without a mail server: who invites has the link. */
  readonly sendInvitation: (invitation: {
    readonly email: string;
    readonly url: string;
    readonly organisationName: string;
    readonly invitedBy: string;
  }) => void;
  /** Whether an invitation may be sent to the address now; counts it. @throws Problem RATE_LIMITED */
  readonly takeInvitation: (email: string, invitedBy: string) => Promise<void>;
}

/** What links work with. */
export interface LinkDeps {
  readonly links: LinkStore;
  readonly users: Pick<UserStore, "find" | "findSecret">;
  readonly attempts: Attempts;
  readonly passwords: Passwords;
  readonly mailer: Mailer;
  /** Origin of the links: of the settings, never of a request's `Host`. */
  readonly apiUrl: string;
}

const RESET_MINUTES = 60;
const VERIFY_MINUTES = 3 * 24 * 60;
const MAX_SHOWN = 80;

/** Makes and uses links. */
export function createLinks(deps: LinkDeps): Links {
  return { ...createMails(deps), ...createResets(deps), ...createVerifications(deps) };
}

function createMails({
  mailer,
  attempts,
}: LinkDeps): Pick<Links, "sendsMail" | "sendInvitation" | "takeInvitation"> {
  return {
    sendsMail: mailer.sendsMail,
    takeInvitation: (email, invitedBy) => attempts.takeInvitation(normaliseEmail(email), invitedBy),
    sendInvitation: ({ email, url, organisationName, invitedBy }) => {
      if (!mailer.sendsMail) return;
      mailer.send({
        to: email,
        subject: `Invitation to ${quote(organisationName)}`,
        text: `${quote(invitedBy)} invites you to the organisation ${quote(organisationName)}. The link works once:`,
        url,
        purpose: "of an invitation",
      });
    },
  };
}

function createResets({
  links,
  users,
  attempts,
  passwords,
  mailer,
  apiUrl,
}: LinkDeps): Pick<Links, "requestPasswordReset" | "resetPassword"> {
  return {
    requestPasswordReset: async (given, ip) => {
      await attempts.takeOfClient("reset", ip);
      await attempts.takeOfAccount("mail", normaliseEmail(given));
      // After the answer, whose time would say whether there is such a user.
      mailer.prepare(async () => {
        const secret = await users.findSecret(normaliseEmail(given));
        const user = secret === null ? null : await users.find(secret.userId);
        if (user === null) return null;
        // To the address that is stored: another one may be the same in lower case (K, the sign of Kelvin).
        const { id: userId, email } = user;
        const { token, hash: tokenHash } = createLinkToken();
        await links.create({ purpose: "reset", userId, email, tokenHash, expiresInMinutes: RESET_MINUTES });
        return {
          to: email,
          subject: "Set a new password",
          text: "A new password was asked for. If it was not you, ignore this mail. The link works once, within an hour:",
          url: `${apiUrl}/reset-password/${token}`,
          purpose: "to set a new password",
        };
      });
    },
    resetPassword: async (token, password, ip) => {
      const tokenHash = hashLinkToken(token);
      await attempts.takeOfClient("reset", ip);
      // Before a password is hashed.
      if (tokenHash === null || !(await links.isOpen(tokenHash, "reset"))) throw new Problem("LINK_EXPIRED");
      const passwordHash = await passwords.hash(password);
      const verifies = mailer.sendsMail;
      const email = await links.resetPassword({ tokenHash, passwordHash, verifies });
      if (email === null) throw new Problem("LINK_EXPIRED");
      await attempts.forgetAccount("sign-in", email);
    },
  };
}

function createVerifications({
  links,
  users,
  attempts,
  mailer,
  apiUrl,
}: LinkDeps): Pick<Links, "requestEmailVerification" | "verifyEmail" | "sendVerification"> {
  const sendVerification: Links["sendVerification"] = async ({ userId, email }) => {
    await attempts.takeOfAccount("verification", email);
    const { token, hash: tokenHash } = createLinkToken();
    await links.create({ purpose: "verify", userId, email, tokenHash, expiresInMinutes: VERIFY_MINUTES });
    mailer.send({
      to: email,
      subject: "Verify your email address",
      text: "This address was given for an account. If it was not you, ignore this mail. The link works once, within three days:",
      url: `${apiUrl}/verify-email/${token}`,
      purpose: "to verify an address",
    });
  };
  return {
    sendVerification,
    requestEmailVerification: async (userId) => {
      const user = await users.find(userId);
      if (user === null || user.isEmailVerified) return;
      await sendVerification({ userId, email: user.email });
    },
    verifyEmail: async (token, userId) => {
      const tokenHash = hashLinkToken(token);
      if (tokenHash === null || !(await links.verifyEmail(tokenHash, userId)))
        throw new Problem("LINK_EXPIRED");
    },
  };
}

/** A name that somebody chose: on one line, short, and nothing that a mail program makes a link of. */
function quote(name: string): string {
  const plain = name
    .replaceAll(/[\p{C}\p{Z}\s]+/gu, " ")
    .replaceAll(/[./:@<>]+/gu, " ")
    .trim();
  return `"${plain.slice(0, MAX_SHOWN)}"`;
}
