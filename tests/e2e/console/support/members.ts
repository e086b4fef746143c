import { expectOk, request } from "../../../../tools/platform-client.ts";
import type { ConsoleWorld } from "./open-console.ts";

interface Member {
  readonly name: string;
  readonly email: string;
  readonly password: string;
}

/** A user who has followed an invitation into an organisation of the first login. */
export async function inviteMember(
  { login: { apiUrl, personalAccessToken: token } }: ConsoleWorld,
  organisationId: string,
  role: "viewer" | "maintainer",
): Promise<Member> {
  const { url } = await expectOk(
    request<{ url: string }>("POST", `${apiUrl}/api/invitations`, {
      token,
      headers: { "x-organizationid": organisationId },
      json: { role, expiresInDays: 1 },
    }),
  );
  const member = {
    name: `A ${role}`,
    email: `${role}.${organisationId.slice(-6)}@example.org`,
    password: "a long enough password",
  };
  await expectOk(
    request("POST", `${apiUrl}/api/users`, {
      json: { ...member, invitation: new URL(url).pathname.split("/").at(-1) },
      headers: { "x-requested-by": "console", origin: apiUrl },
    }),
  );
  return member;
}
