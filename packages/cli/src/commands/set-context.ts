import type { Organization } from "@platform/contract/platform-api/account";
import { defineCommand } from "../base/command.ts";
import type { CommandContext } from "../base/context.ts";
import { UserError, createUsageError } from "../base/errors.ts";
import { findEndpoint, openSession, readAllPages } from "../base/session.ts";

/** `platform set-context`: stores the organisation that later commands work in. */
export const setContextCommand = defineCommand({
  name: "set-context",
  summary: "Choose the organisation to work in",
  description: [
    "Services and jobs belong to an organisation. Without an argument, shows a list on the terminal to choose from.",
    "The variable PLATFORM_ORGANIZATION_ID takes precedence over the stored context.",
  ],
  arguments: { organization: { description: "Id, slug or name of the organisation", required: false } },
  options: {},
  examples: [
    { command: "platform set-context", comment: "Choose from a list" },
    { command: 'platform set-context "Quantum Lab"', comment: "By name" },
  ],
  run: async (context, input) => {
    const session = await openSession(context);
    const organizations = await readAllPages((query) => session.client.listOrganizations({ query }));
    const chosen = await choose(context, organizations, session.organizationId, input.arguments.organization);
    await context.config.update((stored) => ({
      ...stored,
      endpoint: stored.endpoint ?? findEndpoint(context.settings, stored),
      context: { id: chosen.id, name: chosen.name },
    }));
    context.output.print(`Working in '${chosen.name}' (${chosen.id}) as ${chosen.role}.`);
    if (context.settings.organizationId !== undefined) {
      context.output.warn("PLATFORM_ORGANIZATION_ID is set and takes precedence over this choice.");
    }
    return { json: { organization: chosen }, succeeded: true };
  },
});

async function choose(
  context: CommandContext,
  organizations: readonly Organization[],
  current: string | null,
  given: string | undefined,
): Promise<Organization> {
  const wanted = given ?? (await ask(context, organizations, current));
  const isNamed = ({ id, slug }: Organization) => id === wanted || slug === wanted;
  const matches = organizations.filter((one) => isNamed(one) || one.name === wanted);
  const exact = matches.find(isNamed) ?? (matches.length === 1 ? matches[0] : undefined);
  if (exact !== undefined) return exact;
  const known = organizations.map(({ id, name }) => `${name} (${id})`);
  throw matches.length > 1
    ? new UserError(
        "ORGANISATION_AMBIGUOUS",
        `You are a member of several organisations named '${wanted}'.`,
        {
          hint: "Use the slug or the id instead of the name.",
          details: known,
        },
      )
    : new UserError("ORGANISATION_NOT_FOUND", `You are not a member of an organisation '${wanted}'.`, {
        hint: "Choose one of your organisations, listed above.",
        details: known,
      });
}

async function ask(
  context: CommandContext,
  organizations: readonly Organization[],
  current: string | null,
): Promise<string> {
  if (context.prompts === null) {
    throw createUsageError(
      "An organisation is required, and there is no terminal to ask for it.",
      `Pass one of: ${organizations.map(({ id, name }) => `${name} (${id})`).join(", ")}.`,
    );
  }
  return context.prompts.choose(
    "Organisation to work in",
    organizations.map(({ id, name, role }) => ({ value: id, label: name, hint: role })),
    current ?? undefined,
  );
}
