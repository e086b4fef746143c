import { createTestUser } from "./fixtures.ts";
import type { TestUser } from "./fixtures.ts";
import type { TestInstance } from "./instance.ts";

/** What the console sends with each request, and the browser with it. */
export const PROOF = { "x-requested-by": "console", "sec-fetch-site": "same-origin" };

/** The header Set-Cookie of a new session over plain http; the group is what the cookie holds. */
export const COOKIE =
  /^platform_session=([A-Za-z0-9_-]{43}); Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax$/u;

type Headers = Readonly<Record<string, string>>;

/** A user who signs in. */
export interface Browser {
  readonly user: TestUser;
  /** Every try comes from another client unless the headers say otherwise. */
  readonly signIn: (
    email: string,
    options?: { readonly password?: string; readonly headers?: Headers; readonly instance?: TestInstance },
  ) => ReturnType<typeof send>;
  /** The header Cookie of a new session. */
  readonly startSession: () => Promise<string>;
}

/** Sends a request to the platform API. */
export function send(
  { api }: TestInstance,
  method: "GET" | "POST" | "PUT" | "DELETE",
  url: string,
  more: { readonly headers?: Headers; readonly payload?: object | string } = {},
) {
  return api.inject({ method, url: `/api${url}`, ...more });
}

/** Reads who the cookie belongs to. */
export function getMe(instance: TestInstance, cookie: string, headers: Headers = PROOF) {
  return send(instance, "GET", "/me", { headers: { cookie, ...headers } });
}

let clients = 0;
// The proxy on this host says where a request came from.
const nextClient = () => `198.51.100.${(clients += 1) % 250}`;

/** A new user of the instance, and nobody has tried to sign in yet. */
export async function createBrowser(instance: TestInstance): Promise<Browser> {
  const user = await createTestUser(instance);
  await instance.database.query({ text: "delete from sign_in_attempt" });
  await instance.database.query({ text: "delete from start_bucket" });
  const signIn: Browser["signIn"] = (email, options = {}) =>
    send(options.instance ?? instance, "POST", "/session", {
      headers: { "x-forwarded-for": nextClient(), "user-agent": "Test/1.0", ...(options.headers ?? PROOF) },
      payload: { email, password: options.password ?? user.password },
    });
  return {
    user,
    signIn,
    startSession: async () => {
      const response = await signIn(user.email);
      const [, value] = COOKIE.exec(String(response.headers["set-cookie"])) ?? [];
      if (value === undefined) throw new Error(`No cookie: ${response.body}`);
      return `platform_session=${value}`;
    },
  };
}
