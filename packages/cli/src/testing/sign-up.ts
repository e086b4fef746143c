import { PLATFORM_API } from "@platform/contract/platform-api/platform-api";
import { Problem } from "@platform/contract/problems";
import type { OperationHandlers } from "@platform/engine/http/types";

const { signUp, signOut } = PLATFORM_API;

/** The operations of accounts that the peer has. */
export const SIGN_UP_TABLE = { signUp, signOut };

/** The cookie of the session that signing up begins. */
export const SESSION_COOKIE = "platform_session=secret";

/** Accounts for everybody whose request could come from a page of the platform. */
export function createSignUp(): OperationHandlers<typeof SIGN_UP_TABLE, null> {
  return {
    signUp: ({ body: { name, email, password, invitation }, http: { headers } }) => {
      if (headers["x-requested-by"] !== "console" || headers["sec-fetch-site"] !== "same-origin")
        throw new Problem("FORBIDDEN", "There is no proof.");
      if (password !== "a long password") throw new Problem("INVALID_INPUT", "The password is another one.");
      if (invitation === "mistyped") throw new Problem("NOT_FOUND", "There is no such invitation.");
      if (invitation === "of-another") throw new Problem("FORBIDDEN", "It is for another email address.");
      const organization = { id: "org-1", slug: "ada", name, role: "owner" as const, isPersonal: true };
      const organizations = invitation === undefined ? [organization] : [organization, organization];
      const user = { id: "user-9", email, emailVerified: false, name, operator: false };
      return {
        status: 201,
        body: { ...user, organization, organizations },
        headers: { "set-cookie": `${SESSION_COOKIE}; Path=/; HttpOnly` },
      };
    },
    signOut: () => ({ status: 204, headers: { "set-cookie": "platform_session=; Path=/; Max-Age=0" } }),
  };
}
