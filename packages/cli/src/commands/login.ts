import { RequestRefused } from "@platform/contract/client";
import { defineCommand } from "../base/command.ts";
import type { CommandContext } from "../base/context.ts";
import { UserError, createUsageError } from "../base/errors.ts";
import { explainError } from "../base/explain-error.ts";
import { createPlatformClient, findEndpoint, parseEndpoint, warnOfPlainHttp } from "../base/session.ts";

export const loginCommand = defineCommand({
  name: "login",
  summary: "Store a personal access token for the platform",
  description: [
    "Asks the platform who the token belongs to before anything is stored. Without --token, a terminal is asked for it (the input is hidden).",
    "The context becomes the user's own organisation; 'platform set-context' chooses another.",
  ],
  arguments: {},
  options: {
    token: {
      kind: "text",
      short: "t",
      placeholder: "token",
      description: "Personal access token; '-' reads it from standard input",
    },
    endpoint: {
      kind: "text",
      placeholder: "url",
      description:
        "Address of the platform's API (default: PLATFORM_ENDPOINT, else the stored one, else http://localhost:8090)",
    },
  },
  examples: [
    { command: "platform login", comment: "Asks for the token" },
    {
      command: "platform login -t plat_abc --endpoint https://platform.example.org",
      comment: "Everything given",
    },
    { command: "cat token.txt | platform login -t -", comment: "Keeps the token out of the shell's history" },
  ],
  run: async (context, { options }) => {
    const stored = await context.config.read();
    const endpoint =
      options.endpoint === undefined
        ? findEndpoint(context.settings, stored)
        : parseEndpoint(options.endpoint);
    const token = await askToken(context, options.token);
    warnOfPlainHttp(context, endpoint);
    const client = createPlatformClient({ endpoint, token, organizationId: null, signal: context.signal });
    const me = await client.getMe({}).catch((error: unknown) => {
      throw explainLogin(error, endpoint, context.signal.aborted);
    });
    await context.config.update(() => ({
      endpoint,
      personalAccessToken: token,
      context: { id: me.organization.id, name: me.organization.name },
    }));
    context.output.print(`Logged in to ${endpoint} as ${me.email}, working in '${me.organization.name}'.`);
    return {
      json: { endpoint, user: { id: me.id, email: me.email, name: me.name }, organization: me.organization },
      succeeded: true,
    };
  },
});

/** The endpoint that was tried is not yet the stored one, which other commands would name. */
function explainLogin(error: unknown, endpoint: string, isInterrupted: boolean): unknown {
  if (error instanceof RequestRefused && error.problem.code === "NOT_FOUND")
    return new UserError("NOT_FOUND", `There is no platform API at ${endpoint}.`, {
      cause: error,
      hint: "Give the address of the platform API (port 8090 unless its operator says otherwise), not of the gateway.",
    });
  return explainError(error, { endpoint, isInterrupted }) ?? error;
}

async function askToken(context: CommandContext, given: string | undefined): Promise<string> {
  const raw = await findToken(context, given);
  const token = raw.trim();
  if (/^[\u0021-\u007E]+$/.test(token)) return token;
  throw createUsageError("This is not a token: it must be one word of visible ASCII characters.");
}

async function findToken(context: CommandContext, given: string | undefined): Promise<string> {
  if (given === "-") return context.readStandardInput();
  if (given !== undefined) return given;
  if (context.prompts !== null) return context.prompts.askSecret("Personal access token");
  throw createUsageError(
    "A token is needed, and there is no terminal to ask.",
    "Pass it: platform login -t <token> (or '-t -' to read standard input).",
  );
}
