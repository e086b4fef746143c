import { readFile, writeFile } from "node:fs/promises";
import { randomBytes } from "node:crypto";
import { expectOk, request } from "../platform-client.ts";

/** A user without a connection to who provides the service. */
export interface Customer {
  readonly email: string;
  readonly password: string;
  readonly personalAccessToken: string;
}

/** What the platform asks of browsers, so that no other page can sign its reader in. */
const FROM_THE_CONSOLE = { "x-requested-by": "console", "sec-fetch-site": "same-origin" };
const TOKEN_DAYS = 365;

/**
 * The customer of this data directory: as `file` says, or else a new one, who signs up as the console does it. The file is written before
 * the account is made, so that a demo that was interrupted goes on with it.
 */
export async function findCustomer(apiUrl: string, file: string): Promise<Customer> {
  const stored = await readCustomer(file);
  if (stored?.personalAccessToken !== undefined)
    return { ...stored, personalAccessToken: stored.personalAccessToken };
  const { email, password } = stored ?? {
    email: "ada@example.org",
    password: randomBytes(18).toString("base64url"),
  };
  await writeCustomer(file, { email, password });
  const cookie = await signUpOrIn(apiUrl, { email, password });
  const { token } = await expectOk(
    request<{ token: string }>("POST", `${apiUrl}/api/personal-access-tokens`, {
      headers: { ...FROM_THE_CONSOLE, cookie },
      json: { name: "demo", scopes: ["admin"], expiresInDays: TOKEN_DAYS },
    }),
  );
  const customer = { email, password, personalAccessToken: token };
  await writeCustomer(file, customer);
  return customer;
}

/** The cookie of a session. */
async function signUpOrIn(apiUrl: string, login: Pick<Customer, "email" | "password">): Promise<string> {
  const send = (path: string, json: unknown) =>
    request("POST", `${apiUrl}/api/${path}`, { headers: FROM_THE_CONSOLE, json });
  const created = await send("users", { name: "Ada", ...login });
  const answer = created.status === 409 ? await send("session", login) : created;
  await expectOk(Promise.resolve(answer));
  return answer.headers
    .getSetCookie()
    .map((cookie) => cookie.split(";")[0])
    .join("; ");
}

async function readCustomer(
  file: string,
): Promise<(Omit<Customer, "personalAccessToken"> & Partial<Customer>) | undefined> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as Customer;
  } catch {
    return undefined;
  }
}

function writeCustomer(file: string, customer: Partial<Customer>): Promise<void> {
  return writeFile(file, `${JSON.stringify(customer, null, 2)}\n`, { mode: 0o600 });
}
