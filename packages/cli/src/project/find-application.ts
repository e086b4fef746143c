import type { Application } from "@platform/contract/platform-api/applications";
import { UserError } from "../base/errors.ts";
import { readAllPages } from "../base/session.ts";
import type { PlatformClient } from "../base/session.ts";

/** All applications of the organisation, newest first. */
export function listApplications(client: PlatformClient): Promise<readonly Application[]> {
  return readAllPages((query) => client.listApplications({ query }));
}

/** The application with this id or name. @throws UserError APPLICATION_NOT_FOUND, APPLICATION_AMBIGUOUS */
export async function findApplication(client: PlatformClient, wanted: string): Promise<Application> {
  const applications = await listApplications(client);
  const matches = applications.filter(({ id, name }) => id === wanted || name === wanted);
  const exact = matches.find(({ id }) => id === wanted) ?? (matches.length === 1 ? matches[0] : undefined);
  if (exact !== undefined) return exact;
  const details = applications.map(({ id, name }) => `${name} (${id})`);
  if (matches.length > 1)
    throw new UserError("APPLICATION_AMBIGUOUS", `There are several applications named '${wanted}'.`, {
      hint: "Use the id instead of the name.",
      details,
    });
  throw new UserError("APPLICATION_NOT_FOUND", `There is no application '${wanted}' in this organisation.`, {
    hint: "'platform applications create' makes one; 'platform whoami' shows the organisation.",
    details,
  });
}
