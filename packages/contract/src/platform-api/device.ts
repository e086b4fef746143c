import { Type } from "typebox";
import { WRITES } from "../operation-rows.ts";
import type { OperationTable } from "../operation.ts";
import { StringEnum } from "../schemas.ts";
import { TOKEN_SCOPES } from "../permissions.ts";
import { DisplayName } from "./common.ts";

const ANYBODY = { allows: "public", scope: "platform" } as const;

/** What a client of the standard sends besides; who it is decides nothing. */
const CLIENT_ID = Type.Optional(DisplayName);
const SCOPES = TOKEN_SCOPES.filter((scope) => scope !== "quantum").join("|");
const AS_A_FORM = "The body may also be a form, as RFC 8628 has it.";

/** Logins of programs without a browser: the OAuth device grant (RFC 8628), with bodies in JSON or as forms. */
export const DEVICE_API = {
  startDeviceLogin: {
    ...WRITES,
    ...ANYBODY,
    path: "/device/code",
    audit: "device-login.start",
    bodyMode: "optional",
    acceptsForm: true,
    summary: "Begin to log in a program without a browser",
    description: `The program shows \`user_code\` and \`verification_uri\` to its user, who confirms there, and asks for the token meanwhile. ${AS_A_FORM}`,
    body: Type.Object(
      {
        client_name: Type.Optional(DisplayName),
        client_id: CLIENT_ID,
        scope: Type.Optional(
          Type.String({
            pattern: `^(${SCOPES})( (${SCOPES})){0,3}$`,
            description: "Scopes of the token, separated by spaces; default admin",
            examples: ["deploy"],
          }),
        ),
      },
      {
        additionalProperties: false,
        title: "StartDeviceLoginRequest",
        description: "What the program says it is",
      },
    ),
    responses: {
      200: {
        description: "Begun",
        schema: Type.Object(
          {
            device_code: Type.String({ description: "Secret with which the program asks for its token" }),
            user_code: Type.String({ description: "Code that the user has to confirm" }),
            verification_uri: Type.String({ description: "Page on which the user confirms" }),
            verification_uri_complete: Type.String({ description: "The same with the code filled in" }),
            expires_in: Type.Integer({ description: "Seconds until the codes expire" }),
            interval: Type.Integer({ description: "Seconds to wait between two questions" }),
          },
          { title: "DeviceLogin", description: "The codes of a login that has begun" },
        ),
      },
    },
    problems: ["RATE_LIMITED"],
  },
  finishDeviceLogin: {
    ...WRITES,
    ...ANYBODY,
    path: "/device/token",
    audit: "device-login.finish",
    acceptsForm: true,
    summary: "Ask for the personal access token of a device login",
    description: `AUTHORIZATION_PENDING until the user has confirmed; SLOW_DOWN when asked too soon, which makes the interval 5 seconds longer. The token is handed out once. ${AS_A_FORM}`,
    body: Type.Object(
      {
        device_code: Type.String({ minLength: 1, maxLength: 256, description: "As it was begun" }),
        client_id: CLIENT_ID,
        grant_type: Type.Optional(
          StringEnum(["urn:ietf:params:oauth:grant-type:device_code"], { description: "As in RFC 8628" }),
        ),
      },
      {
        additionalProperties: false,
        title: "FinishDeviceLoginRequest",
        description: "Which login is asked about",
      },
    ),
    responses: {
      200: {
        description: "Confirmed",
        schema: Type.Object(
          {
            access_token: Type.String({ description: "A personal access token, shown once" }),
            token_type: StringEnum(["Bearer"], { description: "How it is sent" }),
            expires_in: Type.Integer({ description: "Seconds until it expires" }),
            scope: Type.String({ description: "Its scopes, separated by spaces" }),
          },
          { title: "DeviceToken", description: "The token of a confirmed login" },
        ),
      },
    },
    problems: ["AUTHORIZATION_PENDING", "SLOW_DOWN", "EXPIRED_TOKEN", "ACCESS_DENIED", "QUOTA_EXCEEDED"],
  },
} as const satisfies OperationTable;
