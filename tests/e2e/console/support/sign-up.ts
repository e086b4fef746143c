import { randomInt } from "node:crypto";
import { once } from "node:events";
import { request as open } from "node:http";
import type { IncomingMessage } from "node:http";
import { json } from "node:stream/consumers";
import { expectOk, request } from "../../../../tools/platform-client.ts";
import type { Login } from "../../../../tools/platform-process.ts";
import type { Person } from "./people.ts";

/** What the console sends with whatever changes something. */
const createProof = (apiUrl: string) => ({ "x-requested-by": "console", origin: apiUrl });

/**
 * Creates the account, as a client of its own: one client signs up twenty users at once, and all stories together are more.
 *
 * @param invitation path of its link
 * @returns cookie of the session that begins
 * @throws Error where the platform refuses
 */
export async function signUp(apiUrl: string, person: Person, invitation?: string): Promise<string> {
  const localAddress = `127.${randomInt(1, 255)}.${randomInt(256)}.${randomInt(1, 255)}`;
  const asked = open(`${apiUrl}/api/users`, {
    method: "POST",
    localAddress,
    headers: { ...createProof(apiUrl), "content-type": "application/json" },
  });
  const token = invitation?.split("/").at(-1);
  asked.end(JSON.stringify({ ...person, ...(token === undefined ? {} : { invitation: token }) }));
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  const body = await json(answer);
  const [cookie] = answer.headers["set-cookie"] ?? [];
  if (answer.statusCode !== 201 || cookie === undefined)
    throw new Error(`signing up was answered ${answer.statusCode}: ${JSON.stringify(body)}`);
  return cookie.split(";", 1)[0] ?? "";
}

/** Creates the account, and a token with which everything can be done that its user can do. */
export async function signUpWithToken(
  { apiUrl, gatewayUrl }: Pick<Login, "apiUrl" | "gatewayUrl">,
  person: Person,
): Promise<Login> {
  const headers = { ...createProof(apiUrl), cookie: await signUp(apiUrl, person) };
  const me = await expectOk(
    request<{ organization: { id: string } }>("GET", `${apiUrl}/api/me`, { headers }),
  );
  const { token } = await expectOk(
    request<{ token: string }>("POST", `${apiUrl}/api/personal-access-tokens`, {
      headers,
      json: { name: "story", scopes: ["admin", "quantum"] },
    }),
  );
  const { email, password } = person;
  return {
    apiUrl,
    gatewayUrl,
    email,
    password,
    organizationId: me.organization.id,
    personalAccessToken: token,
  };
}
