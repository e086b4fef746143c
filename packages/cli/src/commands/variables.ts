import { defineCommand } from "../base/command.ts";
import type { CommandContext } from "../base/context.ts";
import { createUsageError } from "../base/errors.ts";
import { cleanText } from "../base/output.ts";
import { openSession, readAllPages } from "../base/session.ts";
import { VARIABLE_NAME, createScopeOptions, findScope } from "./variable-scope.ts";

const OPTIONS = createScopeOptions("variable");

/** `platform variables set`: other than a secret, the value may stand on the command line. */
export const setVariableCommand = defineCommand({
  name: "variables set",
  summary: "Set a variable of a service, or of the organisation",
  description: [
    "Without a value, it is read from standard input; one line break at its end is dropped.",
    "Runs that begin seconds later have it in their environment, without a new version. Members can read it, and logs show it: for what nobody may read there is 'platform secrets set'.",
  ],
  arguments: { name: VARIABLE_NAME, value: { description: "The value", required: false } },
  options: OPTIONS,
  exclusive: [["service", "organization"]],
  examples: [
    { command: "platform variables set LOG_FORMAT json", comment: "Of the project in this folder" },
    {
      command: "platform variables set SETTINGS --organization < settings.json",
      comment: "For all services, from a file",
    },
  ],
  run: async (context, { arguments: { name, value: given }, options }) => {
    const { client } = await openSession(context);
    const value = given ?? (await readValue(context));
    const key = await findScope(context, client, options);
    const set =
      key === null
        ? await client.putOrganizationVariable({ params: { name }, body: { value } })
        : await client.putVariable({ params: { key, name }, body: { value } });
    context.output.print(`Set ${set.name} (revision ${set.revision}).`);
    return { json: set, succeeded: true };
  },
});

/** `platform variables ls`. */
export const listVariablesCommand = defineCommand({
  name: "variables ls",
  isDefault: true,
  summary: "List the variables of a service, or of the organisation, with their values",
  description: ["Secrets have a list of their own: 'platform secrets ls'."],
  arguments: {},
  options: OPTIONS,
  exclusive: [["service", "organization"]],
  examples: [{ command: "platform variables ls --service tsp", comment: "Of a service" }],
  run: async (context, { options }) => {
    const { client } = await openSession(context);
    const key = await findScope(context, client, options);
    const variables = await readAllPages((query) =>
      key === null
        ? client.listOrganizationVariables({ query })
        : client.listVariables({ params: { key }, query }),
    );
    context.output.printTable(
      ["NAME", "VALUE", "REVISION", "CHANGED", "BY"],
      variables.map(({ name, value, revision, changedAt, changedBy }) => [
        name,
        // One line each.
        cleanText(value).replaceAll("\n", "\\n"),
        String(revision),
        changedAt,
        cleanText(changedBy ?? "-"),
      ]),
      "No variables yet. Set one with 'platform variables set'.",
    );
    return { json: variables, succeeded: true };
  },
});

/** `platform variables rm`. */
export const removeVariableCommand = defineCommand({
  name: "variables rm",
  summary: "Delete a variable of a service, or of the organisation",
  description: ["Runs that begin seconds later do not have it."],
  arguments: { name: VARIABLE_NAME },
  options: OPTIONS,
  exclusive: [["service", "organization"]],
  examples: [{ command: "platform variables rm LOG_FORMAT", comment: "Of the project in this folder" }],
  run: async (context, { arguments: { name }, options }) => {
    const { client } = await openSession(context);
    const key = await findScope(context, client, options);
    if (key === null) await client.deleteOrganizationVariable({ params: { name } });
    else await client.deleteVariable({ params: { key, name } });
    context.output.print("Deleted.");
    return { json: { name, deleted: true }, succeeded: true };
  },
});

async function readValue(context: CommandContext): Promise<string> {
  if (context.prompts === null) return (await context.readStandardInput()).replace(/\r?\n$/u, "");
  throw createUsageError("There is no value.", "Pass it: platform variables set NAME VALUE");
}
