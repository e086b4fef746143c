import { randomUUID } from "node:crypto";
import { expectOk, request } from "../../../../tools/platform-client.ts";
import { signUp } from "./sign-up.ts";
import type { ConsoleWorld } from "./open-console.ts";

/** A user of a story. */
export interface Person {
  readonly name: string;
  readonly email: string;
  readonly password: string;
}

/** Who does not exist yet. */
export function createPerson(name: string): Person {
  return {
    name,
    email: `${name.toLowerCase()}.${randomUUID().slice(0, 8)}@example.org`,
    password: `a long enough password of ${name}`,
  };
}

/** What the platform API answers to the user of the file in an organisation. @throws Error where it refuses */
export function callIn<T = Readonly<Record<string, string>>>(
  { login }: ConsoleWorld,
  organizationId: string,
  method: string,
  path: string,
  json?: unknown,
): Promise<T> {
  return expectOk(
    request<T>(method, `${login.apiUrl}/api${path}`, {
      token: login.personalAccessToken,
      headers: { "x-organizationid": organizationId },
      ...(json === undefined ? {} : { json }),
    }),
  );
}

/** A link of an invitation, as its path. */
export async function invite(world: ConsoleWorld, organizationId: string, body: unknown): Promise<string> {
  const { url } = await callIn<{ url: string }>(world, organizationId, "POST", "/invitations", body);
  return new URL(url).pathname;
}

/** Signs the person up, as a member of the organisation where one is given. */
export async function addPerson(
  world: ConsoleWorld,
  person: Person,
  member?: { readonly of: string; readonly role: "viewer" | "maintainer" | "owner" },
): Promise<void> {
  const path = member === undefined ? undefined : await invite(world, member.of, { role: member.role });
  await signUp(world.login.apiUrl, person, path);
}

/** A user who has followed an invitation into an organisation of the user of the file. */
export async function inviteMember(
  world: ConsoleWorld,
  organizationId: string,
  role: "viewer" | "maintainer",
): Promise<Person> {
  const member = {
    name: `A ${role}`,
    email: `${role}.${organizationId.slice(-6)}@example.org`,
    password: "a long enough password",
  };
  await addPerson(world, member, { of: organizationId, role });
  return member;
}
