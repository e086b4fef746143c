import { randomInt } from "node:crypto";
import { expectOk, request } from "../../../../tools/platform-client.ts";
import type { Answer } from "../../../../tools/platform-client.ts";
import type { Login } from "../../../../tools/platform-process.ts";
import type { Person } from "./people.ts";

interface Me {
  readonly organization: { readonly id: string };
}

/**
 * Creates the account, as a client of its own: one client signs up twenty users at once, and all stories together are more.
 *
 * @param invitation path of its link
 * @throws Error where the platform refuses
 */
export async function signUp(apiUrl: string, person: Person, invitation?: string): Promise<void> {
  await expectOk(askForAccount(apiUrl, person, invitation));
}

function askForAccount(apiUrl: string, person: Person, invitation?: string): Promise<Answer<Me>> {
  const client = `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`;
  const token = invitation?.split("/").at(-1);
  return request("POST", `${apiUrl}/api/users`, {
    headers: { ...createProof(apiUrl), "x-forwarded-for": client },
    json: { ...person, ...(token === undefined ? {} : { invitation: token }) },
  });
}

/** What the console sends with whatever changes something. */
const createProof = (apiUrl: string) => ({ "x-requested-by": "console", origin: apiUrl });

/** Creates the account, and a token with which everything can be done that its user can do. */
export async function signUpWithToken(
  { apiUrl, gatewayUrl }: Pick<Login, "apiUrl" | "gatewayUrl">,
  person: Person,
): Promise<Login> {
  const answer = askForAccount(apiUrl, person);
  const { organization } = await expectOk(answer);
  const [cookie = ""] = (await answer).headers.getSetCookie();
  const { token } = await expectOk(
    request<{ token: string }>("POST", `${apiUrl}/api/personal-access-tokens`, {
      headers: { ...createProof(apiUrl), cookie: cookie.split(";", 1)[0] ?? "" },
      json: { name: "story", scopes: ["admin", "quantum"] },
    }),
  );
  const { email, password } = person;
  return {
    apiUrl,
    gatewayUrl,
    email,
    password,
    organizationId: organization.id,
    personalAccessToken: token,
  };
}
