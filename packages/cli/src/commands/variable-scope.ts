import type { CommandContext } from "../base/context.ts";
import type { PlatformClient } from "../base/session.ts";
import { findService } from "../project/find-service.ts";

/** Options that say whose secret or variable it is. */
export function createScopeOptions(kind: "secret" | "variable") {
  return {
    service: {
      kind: "text",
      placeholder: "service",
      description: "Name or key of the service (default: that of the project in this folder)",
    },
    organization: { kind: "flag", description: `A ${kind} of the organisation, for all of its services` },
  } as const;
}

/** The argument that names a secret or variable. */
export const VARIABLE_NAME = { description: "Name of the variable, as API_TOKEN", required: true } as const;

/** The key of the service; null: the organisation's. */
export async function findScope(
  context: CommandContext,
  client: PlatformClient,
  { service, organization }: { readonly service: string | undefined; readonly organization: boolean },
): Promise<string | null> {
  return organization ? null : (await findService(context, client, service)).key;
}
