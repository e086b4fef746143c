import { TOKEN_SCOPES } from "@platform/contract/permissions";
import type { TokenScope } from "@platform/contract/permissions";
import { DAY, MINUTE } from "@platform/engine/base/time";
import { defineCommand } from "../base/command.ts";
import { createUsageError } from "../base/errors.ts";
import { cleanText } from "../base/output.ts";
import { openSession, readAllPages } from "../base/session.ts";

/** `platform tokens create`: the value of the token is all that it prints on standard output. */
export const createTokenCommand = defineCommand({
  name: "tokens create",
  summary: "Create a personal access token and print its value once",
  description: [
    "Nothing shows the value again. The token opens no more, and lives no longer, than the one of this login.",
    "Scopes: read; run (also starts jobs); deploy (also services, versions, applications, subscriptions); admin (all that its user may); quantum (the quantum API only).",
  ],
  arguments: { name: { description: "Display name", required: true } },
  options: {
    scopes: {
      kind: "text",
      placeholder: "scopes",
      default: "read",
      description: `What it may be used for, separated by commas: ${TOKEN_SCOPES.join(", ")}`,
    },
    days: {
      kind: "number",
      placeholder: "days",
      default: 365,
      minimum: 1,
      maximum: 3650,
      isInteger: true,
      description: "Days until it expires",
    },
  },
  examples: [
    { command: "platform tokens create ci --scopes deploy --days 90", comment: "For continuous integration" },
    { command: "platform tokens create laptop --scopes run > token.txt", comment: "Only its value" },
  ],
  run: async (context, { arguments: { name }, options }) => {
    const scopes = options.scopes.split(",").map(readScope);
    const { client } = await openSession(context);
    const created = await client.createPersonalAccessToken({
      body: { name, scopes, expiresInDays: options.days },
    });
    context.output.print(created.token);
    if (isShorter(created, options.days))
      context.output.warn(
        `It does not live ${options.days} days: a token expires with the one that it is made with at the latest, here that of this login. 'platform tokens ls' shows when they expire.`,
      );
    context.output.note(
      `Token ${created.id} (${created.scopes.join(", ")}) expires ${created.expiresAt ?? "never"}. Its value is not shown again.`,
    );
    return { json: created, succeeded: true };
  },
});

/** `platform tokens ls`: reads all pages before it prints. */
export const listTokensCommand = defineCommand({
  name: "tokens ls",
  isDefault: true,
  summary: "List your personal access tokens, without their values",
  description: ["Newest first, with what they open and when they were last used, to the minute."],
  arguments: {},
  options: {},
  examples: [{ command: "platform tokens ls", comment: "A table" }],
  run: async (context) => {
    const { client } = await openSession(context);
    const tokens = await readAllPages((query) => client.listPersonalAccessTokens({ query }));
    context.output.printTable(
      ["NAME", "SCOPES", "LAST USED", "EXPIRES", "ID"],
      tokens.map(({ id, name, scopes, lastUsedAt, expiresAt }) => [
        cleanText(name),
        scopes.join(","),
        lastUsedAt ?? "-",
        expiresAt ?? "never",
        id,
      ]),
    );
    return { json: tokens, succeeded: true };
  },
});

/** `platform tokens rm`. */
export const removeTokenCommand = defineCommand({
  name: "tokens rm",
  summary: "Revoke a personal access token",
  description: ["Requests with it are refused within a second."],
  arguments: { id: { description: "Id of the token, as 'platform tokens ls' shows it", required: true } },
  options: {},
  examples: [{ command: "platform tokens rm 0f2c6b1e-7a53-4000-8000-000000000001", comment: "By its id" }],
  run: async (context, { arguments: { id } }) => {
    const { client } = await openSession(context);
    await client.revokePersonalAccessToken({ params: { id } });
    context.output.print("Revoked.");
    return { json: { id, revoked: true }, succeeded: true };
  },
});

/** By the platform's clock; it counts in seconds. */
function isShorter(
  { createdAt, expiresAt }: { readonly createdAt: string; readonly expiresAt: string | null },
  days: number,
): boolean {
  return expiresAt !== null && readTime(expiresAt) < readTime(createdAt) + days * DAY - MINUTE;
}

/** Of a time as the API has it: `2026-11-20 21:17:00`, in UTC. */
function readTime(text: string): number {
  return Date.parse(`${text.replace(" ", "T")}Z`);
}

function readScope(text: string): TokenScope {
  const scope = TOKEN_SCOPES.find((known) => known === text.trim());
  if (scope !== undefined) return scope;
  throw createUsageError(
    `'${cleanText(text)}' is not a scope; use ${TOKEN_SCOPES.join(", ")}, separated by commas.`,
  );
}
