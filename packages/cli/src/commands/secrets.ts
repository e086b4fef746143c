import { SECRET_LENGTH } from "@platform/contract/platform-api/secrets";
import { defineCommand } from "../base/command.ts";
import type { CommandContext } from "../base/context.ts";
import { createUsageError } from "../base/errors.ts";
import { cleanText } from "../base/output.ts";
import { openSession, readAllPages } from "../base/session.ts";
import { VARIABLE_NAME, createScopeOptions, findScope } from "./variable-scope.ts";

const OPTIONS = createScopeOptions("secret");

/** `platform secrets set`: the value comes from a hidden prompt or standard input, since others see command lines. */
export const setSecretCommand = defineCommand({
  name: "secrets set",
  summary: "Set a secret of a service, or of the organisation",
  description: [
    "Asks for the value (the input is hidden), or reads it from standard input where there is no terminal; one line break at its end is dropped.",
    "Runs that begin seconds later have it in their environment, without a new version. Nobody can read it again.",
  ],
  arguments: { name: VARIABLE_NAME },
  options: OPTIONS,
  exclusive: [["service", "organization"]],
  examples: [
    { command: "platform secrets set API_TOKEN", comment: "Ask for the value" },
    {
      command: "platform secrets set TLS_KEY --organization < key.pem",
      comment: "For all services, from a file",
    },
  ],
  run: async (context, { arguments: { name }, options }) => {
    const { client } = await openSession(context);
    const value = await readValue(context, name);
    const key = await findScope(context, client, options);
    const set =
      key === null
        ? await client.putOrganizationSecret({ params: { name }, body: { value } })
        : await client.putSecret({ params: { key, name }, body: { value } });
    context.output.print(`Set ${set.name} (revision ${set.revision}).`);
    return { json: set, succeeded: true };
  },
});

/** `platform secrets ls`. */
export const listSecretsCommand = defineCommand({
  name: "secrets ls",
  isDefault: true,
  summary: "List the secrets of a service, or of the organisation, without their values",
  description: ["Nobody can read a value, neither here nor elsewhere."],
  arguments: {},
  options: OPTIONS,
  exclusive: [["service", "organization"]],
  examples: [{ command: "platform secrets ls --service tsp", comment: "Of a service" }],
  run: async (context, { options }) => {
    const { client } = await openSession(context);
    const key = await findScope(context, client, options);
    const secrets = await readAllPages((query) =>
      key === null
        ? client.listOrganizationSecrets({ query })
        : client.listSecrets({ params: { key }, query }),
    );
    context.output.printTable(
      ["NAME", "REVISION", "CHANGED", "BY"],
      secrets.map(({ name, revision, changedAt, changedBy }) => [
        name,
        String(revision),
        changedAt,
        cleanText(changedBy ?? "-"),
      ]),
      "No secrets yet. Set one with 'platform secrets set'.",
    );
    return { json: secrets, succeeded: true };
  },
});

/** `platform secrets rm`. */
export const removeSecretCommand = defineCommand({
  name: "secrets rm",
  summary: "Delete a secret of a service, or of the organisation",
  description: ["Runs that begin seconds later do not have it."],
  arguments: { name: VARIABLE_NAME },
  options: OPTIONS,
  exclusive: [["service", "organization"]],
  examples: [{ command: "platform secrets rm API_TOKEN", comment: "Of the project in this folder" }],
  run: async (context, { arguments: { name }, options }) => {
    const { client } = await openSession(context);
    const key = await findScope(context, client, options);
    if (key === null) await client.deleteOrganizationSecret({ params: { name } });
    else await client.deleteSecret({ params: { key, name } });
    context.output.print("Deleted.");
    return { json: { name, deleted: true }, succeeded: true };
  },
});

async function readValue(context: CommandContext, name: string): Promise<string> {
  const value =
    context.prompts === null
      ? (await context.readStandardInput()).replace(/\r?\n$/u, "")
      : await context.prompts.askSecret(`Value of ${name}`);
  if (value === "")
    throw createUsageError(
      "There is no value.",
      "Type it at the prompt, or pass it: platform secrets set NAME < file.",
    );
  const { length } = Array.from(value);
  const { min, max } = SECRET_LENGTH;
  if (length >= min && length <= max) return value;
  throw createUsageError(
    `The value has ${length} characters; a secret has ${min} to ${max}.`,
    length < min ? "What is shorter could not be removed from logs." : "Split it into several secrets.",
  );
}
