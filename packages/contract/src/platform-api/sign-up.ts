import { Type } from "typebox";
import { WRITES } from "../operation-rows.ts";
import type { OperationTable } from "../operation.ts";
import { MeSchema, OWN } from "./account.ts";
import { DisplayName, EmailAddress, NewPassword } from "./common.ts";

const ByToken = Type.Object({ token: Type.String({ description: "Last part of the link" }) });

/** Nobody is asked for credentials. */
const PUBLIC = { allows: "public", scope: "platform" } as const;

/** Operations of who has no account yet, or has forgotten the password. */
export const SIGN_UP_API = {
  signUp: {
    ...WRITES,
    ...PUBLIC,
    path: "/users",
    audit: "user.create",
    summary: "Create an account, and sign in",
    description:
      "Creates the user and an organisation of their own, and sets the cookie of a session. Who may is in `getConfiguration`; an invitation is accepted at the same time. Tries are limited by address of the client. Needs the headers that signing in needs.",
    body: Type.Object(
      {
        name: DisplayName,
        email: EmailAddress,
        password: NewPassword,
        invitation: Type.Optional(
          Type.String({ maxLength: 64, description: "Last part of an invitation's link" }),
        ),
      },
      { additionalProperties: false, title: "SignUpRequest", description: "The user to create" },
    ),
    responses: {
      201: { description: "Created", schema: MeSchema, headers: { "Set-Cookie": "The session's cookie" } },
    },
    problems: ["FORBIDDEN", "NOT_FOUND", "LINK_EXPIRED", "CONFLICT", "RATE_LIMITED", "QUOTA_EXCEEDED"],
  },
  requestPasswordReset: {
    ...WRITES,
    ...PUBLIC,
    path: "/password-resets",
    audit: "password-reset.request",
    answerMode: "none",
    summary: "Ask for a link that sets a new password",
    description:
      "Sends the link to the user with this address. The answer is the same where there is none. Without a mail server the link is in the operator's log.",
    body: Type.Object(
      { email: EmailAddress },
      { additionalProperties: false, title: "PasswordResetRequest", description: "Whose password" },
    ),
    responses: { 202: { description: "A link is sent if there is such a user" } },
    problems: ["RATE_LIMITED"],
  },
  resetPassword: {
    ...WRITES,
    ...PUBLIC,
    method: "PUT",
    path: "/password-resets/{token}",
    audit: "password.reset",
    answerMode: "none",
    summary: "Set a new password with a link",
    description:
      "The link works once, for an hour. All sessions of the user end; personal access tokens stay valid.",
    params: ByToken,
    body: Type.Object(
      { password: NewPassword },
      { additionalProperties: false, title: "ResetPasswordRequest", description: "The new password" },
    ),
    responses: { 204: { description: "Set" } },
    problems: ["LINK_EXPIRED", "RATE_LIMITED"],
  },
  requestEmailVerification: {
    ...WRITES,
    ...OWN,
    path: "/email-verifications",
    audit: "email-verification.request",
    bodyMode: "none",
    answerMode: "none",
    summary: "Ask for a link that verifies the user's email address",
    description: "Without a mail server the link is in the operator's log.",
    responses: { 202: { description: "The link is sent, unless the address is verified already" } },
    problems: ["RATE_LIMITED"],
  },
  verifyEmail: {
    ...WRITES,
    ...OWN,
    method: "PUT",
    path: "/email-verifications/{token}",
    audit: "email.verify",
    bodyMode: "none",
    answerMode: "none",
    summary: "Verify an email address with a link",
    description:
      "The link works once, for three days, for the user whose address it is: whoever reads the mail and whoever has the account are the same person then. Who did not make the account that a mail speaks of sets a new password instead, which ends all that was made before.",
    params: ByToken,
    responses: { 204: { description: "Verified" } },
    problems: ["LINK_EXPIRED"],
  },
} as const satisfies OperationTable;
