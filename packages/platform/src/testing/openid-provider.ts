import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Provider } from "oidc-provider";

/** What the provider says of a user; the subject is the name that is typed. */
interface ProviderUser {
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly name?: string;
}

export interface OpenIdProvider {
  readonly issuer: string;
  /** Users by their subject. */
  readonly users: Map<string, ProviderUser>;
  /** Signs in as a person in a browser does; the query with which the provider sends the browser back. */
  readonly signIn: (url: string, subject: string) => Promise<string>;
  readonly close: () => Promise<void>;
}

/** A real OpenID provider on this machine, with one client. */
export async function startOpenIdProvider(client: {
  readonly id: string;
  readonly secret: string;
  readonly redirectUrl: string;
}): Promise<OpenIdProvider> {
  const users = new Map<string, ProviderUser>();
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  const issuer = `http://127.0.0.1:${port}`;
  const provider = new Provider(issuer, {
    clients: [{ client_id: client.id, client_secret: client.secret, redirect_uris: [client.redirectUrl] }],
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
    cookies: { keys: ["a key for tests"] },
    findAccount: (_context, subject) => ({
      accountId: subject,
      claims: () => ({ sub: subject, ...users.get(subject) }),
    }),
  });
  server.on("request", provider.callback());
  return {
    issuer,
    users,
    signIn: (url, subject) => walk(url, subject, client.redirectUrl),
    close: async () => {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

const MAX_STEPS = 20;

/** Follows redirects with cookies, and fills in the forms of login and consent, until the browser is sent back. */
async function walk(start: string, subject: string, end: string): Promise<string> {
  const cookies = new Map<string, string>();
  let next: { url: string; form: URLSearchParams | null } = { url: start, form: null };
  for (let step = 0; step < MAX_STEPS; step++) {
    if (next.url.startsWith(end)) return new URL(next.url).search.slice(1);
    const response = await fetch(next.url, {
      redirect: "manual",
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") },
      ...(next.form === null ? {} : { method: "POST", body: next.form }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/u.exec(cookie) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get("location");
    if (location !== null) {
      next = { url: new URL(location, next.url).href, form: null };
      continue;
    }
    const page = await response.text();
    const [, action = "", prompt = ""] =
      /action="([^"]+)"[\s\S]*?name="prompt" value="(\w+)"/u.exec(page) ?? [];
    if (prompt === "")
      throw new Error(`The provider shows no form: ${response.status} ${page.slice(0, 500)}`);
    const form = new URLSearchParams(
      prompt === "login" ? { prompt, login: subject, password: "x" } : { prompt },
    );
    next = { url: new URL(action, next.url).href, form };
  }
  throw new Error("The provider does not send the browser back.");
}
