import { Problem } from "@platform/contract/problems";
import type { SESSION_API } from "@platform/contract/platform-api/session";
import type { OperationHandlers } from "@platform/engine/http/types";
import type { Identity } from "../accounts/identity.ts";
import type { PlatformCaller } from "./caller.ts";
import { createClientLimit } from "./client-limit.ts";
import type { SessionCookie } from "./session-cookie.ts";
import { startSession } from "./start-session.ts";

/** What the handlers work with. */
interface Deps {
  readonly identity: Identity;
  readonly cookie: SessionCookie;
  /** For what the browser brings back from the provider. */
  readonly externalCookie: SessionCookie;
}

/** Of one client, behind which may be many users: what it brings back is asked of the provider, which limits the platform as a whole. */
const FINISH_LIMIT = { burst: 60, perSecond: 1 };

/** Handlers of signing in at an OpenID provider. */
export function createExternalSignInHandlers({
  identity,
  cookie,
  externalCookie,
}: Deps): Pick<
  OperationHandlers<typeof SESSION_API, PlatformCaller>,
  "startExternalSignIn" | "finishExternalSignIn"
> {
  const limitFinish = createClientLimit(FINISH_LIMIT);
  return {
    startExternalSignIn: async ({ http }) => {
      cookie.requireProof(http.method, http.headers);
      const { url, secret } = await identity.startExternal();
      const headers = { "set-cookie": externalCookie.write(secret), "cache-control": "no-store" };
      return { status: 200, body: { url }, headers };
    },
    finishExternalSignIn: async ({ body, http, reply }) => {
      // Without proof another page could sign its reader in as somebody else, who then reads what they enter.
      cookie.requireProof(http.method, http.headers);
      if (identity.externalProvider === null) await identity.startExternal();
      const secret = externalCookie.read(http.headers);
      if (secret === null)
        throw new Problem(
          "INVALID_CREDENTIALS",
          "This browser began no sign-in, or longer than ten minutes ago; sign in again.",
        );
      limitFinish(http);
      const former = cookie.read(http.headers);
      const userId = await identity.finishExternal(body.parameters, secret);
      const { me, value } = await startSession({ identity }, http, { userId, former });
      // It is used up.
      void reply.header("set-cookie", externalCookie.remove());
      return {
        status: 200,
        body: me,
        headers: { "set-cookie": cookie.write(value), "cache-control": "no-store" },
      };
    },
  };
}
