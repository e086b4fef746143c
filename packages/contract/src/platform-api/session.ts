import { Type } from "typebox";
import { READS, REMOVES, WRITES } from "../operation-rows.ts";
import type { OperationTable } from "../operation.ts";
import { PageQuery } from "../service-api.ts";
import { Nullable, StringEnum, Timestamp, pageOf } from "../schemas.ts";
import { MeSchema, OWN } from "./account.ts";
import { NewPassword, idOf } from "./common.ts";

/** A value of the header `X-Requested-By`, which every request with the session cookie must have. */
export const REQUESTED_BY = "console";

const ConfigurationSchema = Type.Object(
  {
    productName: Type.String({ description: "Name of the product" }),
    version: Type.String({ description: "Version of the platform" }),
    gatewayUrl: Type.String({ description: "Origin of the gateway" }),
    signUp: StringEnum(["open", "invitation", "closed"], {
      description: "Who can create an account: everybody, who is invited, nobody",
    }),
    identityProvider: Nullable(Type.String(), {
      description: "What people call the provider at which users can sign in; null: there is none",
    }),
    publicMarketplace: Type.Boolean({
      description: "Whether the marketplace is shown to who is not signed in",
    }),
    mail: Type.Boolean({ description: "Whether the platform sends mail" }),
    limits: Type.Object(
      {
        archiveBytes: Type.Integer({ description: "Size of the largest project archive" }),
        inputBytes: Type.Integer({ description: "Size of the largest input by value" }),
        fileBytes: Type.Integer({ description: "Size of the largest file of a data pool" }),
      },
      { title: "ConfigurationLimits", description: "Limits of this platform in bytes" },
    ),
    kept: Type.Object(
      {
        resultDays: Type.Integer({ description: "Of results" }),
        logDays: Type.Integer({ description: "Of logs" }),
      },
      {
        title: "ConfigurationKept",
        description: "For how many days executions are kept after their end, where the service does not say",
      },
    ),
  },
  { title: "Configuration", description: "What a client has to know before anybody signs in" },
);

const SessionSchema = Type.Object(
  {
    id: Type.String({ description: "Identifier of the session" }),
    device: Type.String({ description: "What the browser says it is" }),
    ip: Type.String({ description: "Address from which it signed in" }),
    createdAt: Timestamp("When it was created"),
    lastSeenAt: Timestamp("When it was last used, to the minute"),
    current: Type.Boolean({ description: "Whether it is the session of this request" }),
  },
  { title: "Session", description: "A signed-in browser of the user" },
);

/** Longer than any password that can be set, so that a body costs little before it is compared. */
const Password = Type.String({ minLength: 1, maxLength: 256, description: "Password" });

/** Sessions of browsers. A request with the session's cookie needs proof that it comes from the console itself. */
export const SESSION_API = {
  getConfiguration: {
    ...READS,
    allows: "public",
    scope: "platform",
    path: "/configuration",
    summary: "Get what a client has to know before anybody signs in",
    description: "Needs no credentials.",
    responses: { 200: { description: "Configuration", schema: ConfigurationSchema } },
  },
  signIn: {
    ...WRITES,
    allows: "public",
    scope: "platform",
    path: "/session",
    audit: "session.create",
    summary: "Sign in with email address and password",
    description:
      "Sets the cookie of a new session, for browsers; programs use personal access tokens. Tries are limited by account and by address of the client. Needs the headers that every request with the cookie needs: `X-Requested-By: console`, and `Sec-Fetch-Site: same-origin` or the platform API's own `Origin`.",
    body: Type.Object(
      {
        email: Type.String({ minLength: 1, maxLength: 320, description: "Email address" }),
        password: Password,
      },
      { additionalProperties: false, title: "SignInRequest", description: "Whom to sign in" },
    ),
    responses: {
      200: { description: "Signed in", schema: MeSchema, headers: { "Set-Cookie": "The session's cookie" } },
    },
    problems: ["INVALID_CREDENTIALS", "FORBIDDEN", "RATE_LIMITED"],
  },
  startExternalSignIn: {
    ...WRITES,
    allows: "public",
    scope: "platform",
    path: "/session/external",
    audit: "external-sign-in.start",
    bodyMode: "none",
    summary: "Begin to sign in at the identity provider",
    description:
      "Sets a cookie for ten minutes; send the browser to the URL of the answer. The provider sends it back to /sign-in/callback. Needs the headers that signing in needs.",
    responses: {
      200: {
        description: "Where to go",
        schema: Type.Object(
          { url: Type.String({ description: "Address at the identity provider" }) },
          { title: "ExternalSignIn", description: "Where the user signs in" },
        ),
        headers: { "Set-Cookie": "What the browser has to bring back" },
      },
    },
    problems: ["FORBIDDEN", "NOT_FOUND"],
  },
  finishExternalSignIn: {
    ...WRITES,
    allows: "public",
    scope: "platform",
    method: "PUT",
    path: "/session/external",
    audit: "external-sign-in.finish",
    summary: "Finish signing in at the identity provider",
    description:
      "Sets the cookie of a new session. A user whom the platform does not know is created where sign-up is open; an account with the same address is theirs if the address is verified on both sides. Needs the headers that signing in needs.",
    body: Type.Object(
      {
        parameters: Type.String({
          minLength: 1,
          maxLength: 8192,
          description: "The query with which the provider sent the browser back, without the question mark",
        }),
      },
      {
        additionalProperties: false,
        title: "FinishExternalSignInRequest",
        description: "What the provider said",
      },
    ),
    responses: {
      200: { description: "Signed in", schema: MeSchema, headers: { "Set-Cookie": "The session's cookie" } },
    },
    problems: ["INVALID_CREDENTIALS", "FORBIDDEN", "NOT_FOUND", "CONFLICT", "RATE_LIMITED"],
  },
  signOut: {
    ...REMOVES,
    ...OWN,
    path: "/session",
    audit: "session.end",
    summary: "Sign out",
    description: "Ends the session of this request, and removes its cookie.",
    responses: { 204: { description: "Signed out", headers: { "Set-Cookie": "Removes the cookie" } } },
    problems: ["NOT_FOUND"],
  },
  listSessions: {
    ...READS,
    ...OWN,
    path: "/sessions",
    summary: "List the sessions of the user",
    description: "Newest first, without those that have ended.",
    query: PageQuery,
    responses: { 200: { description: "One page", schema: pageOf("SessionPage", SessionSchema) } },
  },
  revokeSession: {
    ...REMOVES,
    ...OWN,
    path: "/sessions/{id}",
    audit: "session.revoke",
    summary: "End a session",
    description: "Requests with its cookie are refused within seconds.",
    params: idOf("session"),
    responses: { 204: { description: "Ended" } },
    problems: ["NOT_FOUND"],
  },
  changePassword: {
    ...WRITES,
    ...OWN,
    method: "PUT",
    path: "/me/password",
    audit: "password.change",
    answerMode: "none",
    summary: "Change the user's password",
    description: "Ends all other sessions of the user. Personal access tokens stay valid.",
    body: Type.Object(
      {
        currentPassword: Password,
        newPassword: NewPassword,
      },
      {
        additionalProperties: false,
        title: "ChangePasswordRequest",
        description: "The former and the new password",
      },
    ),
    responses: { 204: { description: "Changed" } },
    problems: ["RATE_LIMITED", "CONFLICT"],
  },
} as const satisfies OperationTable;
