import type { CommandContext } from "../base/context.ts";
import { defineCommand } from "../base/command.ts";
import { cleanText } from "../base/output.ts";
import { openSession, readAllPages } from "../base/session.ts";
import type { PlatformClient } from "../base/session.ts";
import { findApplication } from "../project/find-application.ts";

const APPLICATION = { description: "Id or name of the application", required: true } as const;
const KEY = { description: "Id of the key, as 'platform keys ls' shows it", required: true } as const;
const ONCE = "Prints id and secret as lines of an .env file, and beside it how to get an access token.";

/** `platform keys ls`: reads all pages before it prints. */
export const listKeysCommand = defineCommand({
  name: "keys ls",
  summary: "List the access keys of an application, without their secrets",
  description: ["Newest first, revoked ones included, with when each was last used, to the minute."],
  arguments: { application: APPLICATION },
  options: {},
  examples: [{ command: "platform keys ls shop", comment: "A table" }],
  run: async (context, input) => {
    const { client } = await openSession(context);
    const { id } = await findApplication(client, input.arguments.application);
    const keys = await readAllPages((query) => client.listAccessKeys({ params: { id }, query }));
    context.output.printTable(
      ["NAME", "STATE", "LAST USED", "EXPIRES", "ID"],
      keys.map(({ keyId, name, revokedAt, replacedBy, lastUsedAt, expiresAt }) => [
        cleanText(name) || "-",
        revokedAt !== null ? "revoked" : replacedBy !== null ? "replaced" : "active",
        lastUsedAt ?? "-",
        expiresAt ?? "never",
        keyId,
      ]),
      "No access keys yet. Make one with 'platform keys create'.",
    );
    return { json: keys, succeeded: true };
  },
});

/** `platform keys create`. */
export const createKeyCommand = defineCommand({
  name: "keys create",
  summary: "Create an access key and print its secret once",
  description: [ONCE],
  arguments: { application: APPLICATION },
  options: {
    name: { kind: "text", placeholder: "name", description: "Display name" },
    days: {
      kind: "number",
      placeholder: "days",
      minimum: 1,
      maximum: 3650,
      isInteger: true,
      description: "Days until it expires (default: never)",
    },
  },
  examples: [
    { command: "platform keys create shop > .env", comment: "Keep the secret off the screen" },
    { command: "platform keys create shop --name web --days 90", comment: "One that expires" },
  ],
  run: async (context, { arguments: { application }, options: { name, days } }) => {
    const { client } = await openSession(context);
    const { id } = await findApplication(client, application);
    const body = {
      ...(name === undefined ? {} : { name }),
      ...(days === undefined ? {} : { expiresInDays: days }),
    };
    const created = await client.createAccessKey({ params: { id }, body });
    await printKey(context, client, created);
    return { json: created, succeeded: true };
  },
});

/** `platform keys rotate`. */
export const rotateKeyCommand = defineCommand({
  name: "keys rotate",
  summary: "Replace an access key by a new one and print its secret once",
  description: ["The new key has the name and the life of the former one, which goes on for a while.", ONCE],
  arguments: { application: APPLICATION, key: KEY },
  options: {
    overlap: {
      kind: "text",
      placeholder: "hours",
      default: "24",
      choices: ["0", "1", "24", "168"],
      description: "For how many hours the former key goes on",
    },
  },
  examples: [
    {
      command: "platform keys rotate shop plat_key_0f2c6b1e7a5340008000000000000001 > .env",
      comment: "A day to change over",
    },
    {
      command: "platform keys rotate shop plat_key_0f2c6b1e7a5340008000000000000001 --overlap 0",
      comment: "The former one has leaked",
    },
  ],
  run: async (context, { arguments: { application, key }, options: { overlap } }) => {
    const { client } = await openSession(context);
    const { id } = await findApplication(client, application);
    const created = await client.rotateAccessKey({
      params: { id, keyId: key },
      body: { oldEndsInHours: readHours(overlap) },
    });
    await printKey(context, client, created);
    return { json: created, succeeded: true };
  },
});

/** `platform keys rm`. */
export const removeKeyCommand = defineCommand({
  name: "keys rm",
  summary: "Revoke an access key",
  description: ["Access tokens that were obtained with it are refused within a second."],
  arguments: { application: APPLICATION, key: KEY },
  options: {},
  examples: [
    { command: "platform keys rm shop plat_key_0f2c6b1e7a5340008000000000000001", comment: "By its id" },
  ],
  run: async (context, { arguments: { application, key } }) => {
    const { client } = await openSession(context);
    const { id } = await findApplication(client, application);
    await client.revokeAccessKey({ params: { id, keyId: key } });
    context.output.print("Revoked.");
    return { json: { keyId: key, revoked: true }, succeeded: true };
  },
});

function readHours(text: string): 0 | 1 | 24 | 168 {
  return ([0, 1, 168] as const).find((hours) => String(hours) === text) ?? 24;
}

async function printKey(
  { output }: CommandContext,
  client: PlatformClient,
  { keyId, secret }: { readonly keyId: string; readonly secret: string },
): Promise<void> {
  const { gatewayUrl } = await client.getConfiguration({});
  output.print(`PLATFORM_ACCESS_KEY_ID=${keyId}\nPLATFORM_ACCESS_KEY_SECRET=${secret}`);
  output.note("The secret is not shown again. To get an access token with these two variables:");
  output.note(`  ${formatTokenCurl(gatewayUrl)}`);
}

/** The secret is in a variable, so that it is not in the history of a shell. */
function formatTokenCurl(gatewayUrl: string): string {
  return `curl -s -u "$PLATFORM_ACCESS_KEY_ID:$PLATFORM_ACCESS_KEY_SECRET" -d grant_type=client_credentials '${gatewayUrl}/token'`;
}
