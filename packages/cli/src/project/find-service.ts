import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { PROJECT_FILE } from "@platform/contract/project";
import type { Service } from "@platform/contract/platform-api/services";
import type { CommandContext } from "../base/context.ts";
import { UserError, createUsageError } from "../base/errors.ts";
import type { PlatformClient } from "../base/session.ts";

/** The service with this name in the organisation, or null. */
export async function findServiceByName(client: PlatformClient, name: string): Promise<Service | null> {
  const page = await client.listServices({ query: { name } });
  return page.items.find((service) => service.name === name) ?? null;
}

/**
 * The service with the given name or key; by default, that of the project in the working directory.
 *
 * @throws UserError SERVICE_NOT_FOUND, USAGE if there is no project; ProjectError if platform.json is invalid
 */
export async function findService(
  context: CommandContext,
  client: PlatformClient,
  given: string | undefined,
): Promise<Service> {
  if (given !== undefined && isKey(given)) return client.getService({ params: { key: given } });
  const name = given ?? (await readProjectName(context.directory));
  const service = await findServiceByName(client, name);
  if (service !== null) return service;
  throw new UserError("SERVICE_NOT_FOUND", `There is no service '${name}' in this organisation.`, {
    hint:
      given === undefined
        ? "Deploy it with 'platform up'."
        : "See 'platform services' for the services, and 'platform whoami' for the organisation.",
  });
}

/** Whether it has the form of a service's key. */
export function isKey(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

async function readProjectName(directory: string): Promise<string> {
  let text: string;
  try {
    text = await readFile(join(directory, PROJECT_FILE), "utf8");
  } catch {
    throw createUsageError(
      `A service is required: none was given, and there is no ${PROJECT_FILE} in this folder.`,
      "Pass the name of the service, or run this in a project's folder.",
    );
  }
  // Loaded on demand: its schema compiler would delay the start of commands that do not need it.
  const { parseProject } = await import("@platform/engine/project/read-project");
  return parseProject(text).name;
}
