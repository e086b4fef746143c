import { hostname } from "node:os";
import { REQUESTED_BY } from "@platform/contract/platform-api/session";
import { defineCommand } from "../base/command.ts";
import type { CommandContext } from "../base/context.ts";
import { UserError, createUsageError } from "../base/errors.ts";
import { createPlatformClient, findEndpoint, parseEndpoint, warnOfPlainHttp } from "../base/session.ts";
import type { PlatformClient } from "../base/session.ts";
import { readLinkToken, refuseLink } from "./link-token.ts";

/** As those that 'platform login' has made. */
const TOKEN_DAYS = 90;

/** `platform sign-up`: creates an account, and stores a personal access token of it. */
export const signUpCommand = defineCommand({
  name: "sign-up",
  summary: "Create an account on a platform, and log in",
  description: [
    "Asks for what is not given, the password hidden. Whether everybody or who is invited can sign up is the operator's choice; signing in at an identity provider creates accounts in the browser only ('platform login').",
    "Stores a personal access token with the scope admin, which lasts 90 days, as 'platform login' does.",
  ],
  arguments: {},
  options: {
    name: { kind: "text", placeholder: "name", description: "Your name" },
    email: { kind: "text", placeholder: "email", description: "Your email address" },
    passwordStdin: { kind: "flag", description: "Read the password from standard input" },
    invitation: {
      kind: "text",
      placeholder: "link",
      description: "Link of an invitation, which is accepted",
    },
    endpoint: {
      kind: "text",
      placeholder: "url",
      description:
        "Address of the platform API (default: PLATFORM_ENDPOINT, else the stored one, else http://localhost:8090)",
    },
  },
  examples: [
    { command: "platform sign-up --endpoint https://platform.example.org", comment: "With questions" },
    {
      command: "platform sign-up --name Ada --email ada@example.org --password-stdin < password.txt",
      comment: "Without",
    },
  ],
  run: async (context, { options }) => {
    const stored = await context.config.read();
    const endpoint =
      options.endpoint === undefined
        ? findEndpoint(context.settings, stored)
        : parseEndpoint(options.endpoint);
    warnOfPlainHttp(context, endpoint);
    const client = createSessionClient(endpoint, context.signal);
    await requireSignUp(client, options.invitation !== undefined);
    const wish = await askWish(context, options);
    const me = await signUp(client, wish, options.invitation);
    const made = await client.createPersonalAccessToken({
      body: {
        name: `platform CLI on ${hostname()}`.slice(0, 120),
        scopes: ["admin"],
        expiresInDays: TOKEN_DAYS,
      },
    });
    await client.signOut({});
    const { organization } = me;
    await context.config.update(() => ({
      endpoint,
      personalAccessToken: made.token,
      context: { id: organization.id, name: organization.name },
    }));
    context.output.print(`Signed up at ${endpoint} as ${me.email}, working in '${organization.name}'.`);
    return {
      json: { endpoint, user: { id: me.id, email: me.email, name: me.name }, organization },
      succeeded: true,
    };
  },
});

interface Wish {
  readonly name: string;
  readonly email: string;
  readonly password: string;
}

async function signUp(client: PlatformClient, wish: Wish, link: string | undefined) {
  if (link === undefined) return await client.signUp({ body: wish });
  return await client.signUp({ body: { ...wish, invitation: readLinkToken(link) } }).catch(refuseLink);
}

/** With the cookie of a session, which signing up begins; as the platform's own pages, of which there is no other here. */
function createSessionClient(endpoint: string, signal: AbortSignal): PlatformClient {
  const proof = { "x-requested-by": REQUESTED_BY, "sec-fetch-site": "same-origin" };
  let cookie: string | null = null;
  return createPlatformClient({
    endpoint,
    token: null,
    organizationId: null,
    signal,
    headers: () => (cookie === null ? proof : { ...proof, cookie }),
    onHeaders: (headers) => (cookie = headers.get("set-cookie")?.split(";")[0] ?? cookie),
  });
}

async function requireSignUp(client: PlatformClient, isInvited: boolean): Promise<void> {
  const { signUp } = await client.getConfiguration({});
  if (signUp === "open" || (signUp === "invitation" && isInvited)) return;
  throw new UserError(
    "SIGN_UP_CLOSED",
    signUp === "closed"
      ? "Nobody can sign up on this platform."
      : "Only who is invited can sign up on this platform.",
    {
      hint:
        signUp === "closed"
          ? "Ask its operator for an account."
          : "Ask an owner of an organisation for a link, and pass it: --invitation LINK.",
    },
  );
}

interface Given {
  readonly name: string | undefined;
  readonly email: string | undefined;
  readonly passwordStdin: boolean;
}

async function askWish(context: CommandContext, { name, email, passwordStdin }: Given): Promise<Wish> {
  return {
    name: name ?? (await askText(context, "Your name", "--name")),
    email: email ?? (await askText(context, "Email address", "--email")),
    password: passwordStdin
      ? (await context.readStandardInput()).replace(/\r?\n$/u, "")
      : await askPassword(context),
  };
}

async function askText({ prompts }: CommandContext, message: string, flag: string): Promise<string> {
  if (prompts === null) throw refuseWithoutTerminal(flag);
  return prompts.askText({ message });
}

async function askPassword({ prompts }: CommandContext): Promise<string> {
  if (prompts === null) throw refuseWithoutTerminal("--password-stdin");
  const password = await prompts.askSecret("New password");
  if (password === (await prompts.askSecret("The same password again"))) return password;
  throw createUsageError("The two passwords differ.", "Run 'platform sign-up' again; nothing was sent.");
}

function refuseWithoutTerminal(flag: string): UserError {
  return createUsageError(`${flag} is required, and there is no terminal to ask at.`);
}
