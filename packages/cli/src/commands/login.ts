import { RequestRefused } from "@platform/contract/client";
import { defineCommand } from "../base/command.ts";
import type { CommandContext } from "../base/context.ts";
import { UserError, createUsageError } from "../base/errors.ts";
import { explainError } from "../base/explain-error.ts";
import { loginByDevice } from "./device-login.ts";
import { createPlatformClient, findEndpoint, parseEndpoint, warnOfPlainHttp } from "../base/session.ts";

/** `platform login`: replaces the stored login, after the platform has accepted the token. */
export const loginCommand = defineCommand({
  name: "login",
  summary: "Store a personal access token for the platform",
  description: [
    "Without --token, prints a code and opens the browser, where you sign in and confirm it; the token that the platform makes then has the scope admin and lasts 90 days. Where the platform has no such page, or with --paste, asks for a token on the terminal (the input is hidden).",
    "The token is checked with the platform before it is stored.",
    "The context is set to the user's own organisation; 'platform set-context' chooses another.",
  ],
  arguments: {},
  options: {
    token: {
      kind: "text",
      short: "t",
      placeholder: "token",
      description: "Personal access token; '-' reads it from standard input",
    },
    paste: { kind: "flag", description: "Ask for a token on the terminal, without a browser" },
    endpoint: {
      kind: "text",
      placeholder: "url",
      description:
        "Address of the platform API (default: PLATFORM_ENDPOINT, else the stored one, else http://localhost:8090)",
    },
  },
  exclusive: [["token", "paste"]],
  examples: [
    { command: "platform login", comment: "Confirm in the browser" },
    {
      command: "platform login -t plat_abc --endpoint https://platform.example.org",
      comment: "Without questions",
    },
    { command: "cat token.txt | platform login -t -", comment: "Keep the token out of the shell's history" },
  ],
  run: async (context, { options }) => {
    const stored = await context.config.read();
    const endpoint =
      options.endpoint === undefined
        ? findEndpoint(context.settings, stored)
        : parseEndpoint(options.endpoint);
    warnOfPlainHttp(context, endpoint);
    const token = await askToken(context, { ...options, endpoint });
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

/** Explains an error with the endpoint of this login, which is not the stored one yet. */
function explainLogin(error: unknown, endpoint: string, isInterrupted: boolean): unknown {
  if (error instanceof RequestRefused && error.problem.code === "NOT_FOUND")
    return new UserError("NOT_FOUND", `There is no platform API at ${endpoint}.`, {
      cause: error,
      hint: "Use the address of the platform API (by default port 8090), not of the gateway.",
    });
  return explainError(error, { endpoint, isInterrupted, tokenFrom: "login" }) ?? error;
}

interface Wish {
  readonly token: string | undefined;
  readonly paste: boolean;
  readonly endpoint: string;
}

async function askToken(context: CommandContext, wish: Wish): Promise<string> {
  const raw = await findToken(context, wish);
  const token = raw.trim();
  if (/^[\u0021-\u007E]+$/.test(token)) return token;
  throw createUsageError(
    "The token is invalid: a token consists of visible ASCII characters without spaces.",
  );
}

async function findToken(context: CommandContext, { token, paste, endpoint }: Wish): Promise<string> {
  if (token === "-") return context.readStandardInput();
  if (token !== undefined) return token;
  if (context.prompts === null)
    throw createUsageError(
      "A token is required, and there is no terminal to log in at.",
      "Pass it: platform login -t <token> (or '-t -' to read standard input).",
    );
  const confirmed = paste
    ? null
    : await loginByDevice(context, endpoint).catch((error: unknown) => {
        throw explainLogin(error, endpoint, context.signal.aborted);
      });
  return confirmed ?? (await context.prompts.askSecret("Personal access token"));
}
