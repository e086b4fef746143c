import type { SIGN_UP_API } from "@platform/contract/platform-api/sign-up";
import type { OperationHandlers } from "@platform/engine/http/types";
import type { Identity } from "../accounts/identity.ts";
import type { PlatformCaller } from "./caller.ts";
import { readClientAddress } from "../base/client-address.ts";
import type { SessionCookie } from "./session-cookie.ts";
import { startSession } from "./start-session.ts";

/** What the handlers work with. */
interface Deps {
  readonly identity: Identity;
  readonly cookie: SessionCookie;
}

/** Handlers for who has no account yet, or has forgotten the password. */
export function createSignUpHandlers({
  identity,
  cookie,
}: Deps): OperationHandlers<typeof SIGN_UP_API, PlatformCaller> {
  return {
    signUp: async ({ body, http }) => {
      // Without proof another page could sign its reader in as somebody else, who then reads what they enter.
      cookie.requireProof(http.method, http.headers);
      const former = cookie.read(http.headers);
      const userId = await identity.signUp({ ...body, ip: readClientAddress(http) });
      const { me, value } = await startSession({ identity }, http, { userId, former });
      return {
        status: 201,
        body: me,
        headers: { "set-cookie": cookie.write(value), "cache-control": "no-store" },
      };
    },
    requestPasswordReset: async ({ body, http }) => {
      await identity.requestPasswordReset(body.email, readClientAddress(http));
      return { status: 202 };
    },
    resetPassword: async ({ params, body, http }) => {
      await identity.resetPassword(params.token, body.password, readClientAddress(http));
      return { status: 204 };
    },
    requestEmailVerification: async ({ caller }) => {
      await identity.requestEmailVerification(caller.userId);
      return { status: 202 };
    },
    verifyEmail: async ({ caller, params }) => {
      await identity.verifyEmail(params.token, caller.userId);
      return { status: 204 };
    },
  };
}
