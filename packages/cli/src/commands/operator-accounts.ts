import { USER_STATES } from "@platform/contract/platform-api/operator-accounts";
import { defineCommand } from "../base/command.ts";
import type { CommandContext } from "../base/context.ts";
import { UserError } from "../base/errors.ts";
import { cleanText } from "../base/output.ts";
import { openSession, readAllPages } from "../base/session.ts";
import type { PlatformClient } from "../base/session.ts";

type User = Awaited<ReturnType<PlatformClient["listUsers"]>>["items"][number];

const USER = { description: "Email address or id of the user", required: true } as const;

/** `platform operator users`. */
export const listUsersCommand = defineCommand({
  name: "operator users",
  summary: "List the users of the platform",
  description: ["For operators of the platform. Newest first."],
  arguments: { text: { description: "Only users whose address or name has this text", required: false } },
  options: {
    state: {
      kind: "text",
      placeholder: "state",
      choices: USER_STATES,
      description: "Only users of this kind",
    },
  },
  examples: [
    { command: "platform operator users", comment: "All" },
    { command: "platform operator users example.org --state disabled", comment: "Some" },
  ],
  run: async (context, { arguments: { text }, options: { state } }) => {
    const { client } = await openSession(context);
    // The interpreter has checked that it is one of the choices.
    const kind = USER_STATES.find((known) => known === state);
    const filter = {
      ...(text === undefined ? {} : { q: text }),
      ...(kind === undefined ? {} : { state: kind }),
    };
    const users = await readAllPages((query) => client.listUsers({ query: { ...query, ...filter } }));
    printUsers(context, users);
    return { json: users, succeeded: true };
  },
});

/** `platform operator disable`. */
export const disableUserCommand = defineCommand({
  name: "operator disable",
  summary: "Disable a user: sessions and personal access tokens end within seconds",
  description: [
    "For operators of the platform. They end for good: a user who is enabled again signs in anew. What organisations have goes on, such as access keys of applications and schedules.",
  ],
  arguments: { user: USER },
  options: {},
  examples: [{ command: "platform operator disable eve@example.org", comment: "By the address" }],
  run: (context, { arguments: { user } }) => setDisabled(context, user, true),
});

/** `platform operator enable`. */
export const enableUserCommand = defineCommand({
  name: "operator enable",
  summary: "Let a user who was disabled sign in again",
  description: ["For operators of the platform."],
  arguments: { user: USER },
  options: {},
  examples: [{ command: "platform operator enable eve@example.org", comment: "By the address" }],
  run: (context, { arguments: { user } }) => setDisabled(context, user, false),
});

async function setDisabled(context: CommandContext, wanted: string, disabled: boolean) {
  const { client } = await openSession(context);
  const { id: userId } = await findUser(client, wanted);
  const user = await client.putUser({ params: { userId }, body: { disabled } });
  printUsers(context, [user]);
  return { json: user, succeeded: true };
}

/** `platform operator reset-link`: the link is all that it prints on standard output. */
export const createResetLinkCommand = defineCommand({
  name: "operator reset-link",
  summary: "Make a link with which a user sets a new password, and print it once",
  description: [
    "For operators of the platform, also without a mail server. The link works once and ends former ones; whoever has it sets the password.",
  ],
  arguments: { user: USER },
  options: {
    minutes: {
      kind: "number",
      placeholder: "minutes",
      default: 60,
      minimum: 5,
      maximum: 4_320,
      isInteger: true,
      description: "Minutes for which it works",
    },
  },
  examples: [{ command: "platform operator reset-link ada@example.org", comment: "Only the link" }],
  run: async (context, { arguments: { user }, options: { minutes } }) => {
    const { client } = await openSession(context);
    const { id: userId } = await findUser(client, user);
    const link = await client.createResetLink({ params: { userId }, body: { expiresInMinutes: minutes } });
    context.output.print(link.url);
    context.output.note(`For ${cleanText(link.email)}, until ${link.expiresAt}. It is not shown again.`);
    return { json: link, succeeded: true };
  },
});

/** `platform operator organizations`. */
export const listAllOrganizationsCommand = defineCommand({
  name: "operator organizations",
  summary: "List all organisations of the platform, with numbers",
  description: ["For operators of the platform, who see nothing of what organisations have. Newest first."],
  arguments: { text: { description: "Only those whose name or slug has this text", required: false } },
  options: {},
  examples: [{ command: "platform operator organizations", comment: "A table" }],
  run: async (context, { arguments: { text } }) => {
    const { client } = await openSession(context);
    const filter = text === undefined ? {} : { q: text };
    const organizations = await readAllPages((query) =>
      client.listAllOrganizations({ query: { ...query, ...filter } }),
    );
    context.output.printTable(
      ["SLUG", "NAME", "MEMBERS", "SERVICES", "APPLICATIONS", "POOL BYTES", "CREATED", "ID"],
      organizations.map((one) => [
        one.slug,
        cleanText(one.name),
        String(one.members),
        String(one.services),
        String(one.applications),
        String(one.poolBytes),
        one.createdAt,
        one.id,
      ]),
      "No organisation has this text.",
    );
    return { json: organizations, succeeded: true };
  },
});

async function findUser(client: PlatformClient, wanted: string): Promise<User> {
  const key = wanted.toLowerCase();
  const users = await readAllPages((query) => client.listUsers({ query: { ...query, q: key } }));
  const found = users.find(({ id, email }) => email === key || id === key);
  if (found !== undefined) return found;
  throw new UserError("USER_NOT_FOUND", `The platform has no user '${wanted}'.`, {
    hint: "'platform operator users' lists them.",
  });
}

function printUsers({ output }: CommandContext, users: readonly User[]): void {
  output.printTable(
    ["EMAIL", "NAME", "STATE", "ORGANIZATIONS", "LAST SEEN", "CREATED", "ID"],
    users.map((user) => [
      cleanText(user.email),
      cleanText(user.name),
      describeState(user),
      String(user.organizations),
      user.lastSeenAt ?? "-",
      user.createdAt,
      user.id,
    ]),
    "No user is as asked for.",
  );
}

function describeState({ disabledAt, operator }: User): string {
  if (disabledAt !== null) return `disabled, ${disabledAt}`;
  return operator ? "operator" : "enabled";
}
