import { ROLES } from "@platform/contract/permissions";
import { defineCommand } from "../base/command.ts";
import { openSession } from "../base/session.ts";

/** `platform invite`: prints the link of a new invitation, which is shown once. */
export const inviteCommand = defineCommand({
  name: "invite",
  summary: "Invite somebody to the organisation",
  description: [
    "Prints a link that makes its reader a member, once, with 'platform invitations --accept'; only owners invite. The link is shown this one time.",
    "With an email address only the user with this address can accept, and the platform sends the link there if it can send mail.",
  ],
  arguments: { email: { description: "Email address of the user", required: false } },
  options: {
    role: {
      kind: "text",
      placeholder: "role",
      description: "Role of who accepts",
      choices: ROLES,
      default: "viewer",
    },
    days: {
      kind: "number",
      placeholder: "days",
      description: "Days until the link expires",
      minimum: 1,
      maximum: 30,
      isInteger: true,
      default: 7,
    },
  },
  examples: [
    { command: "platform invite ada@example.org --role maintainer", comment: "For this user only" },
    { command: "platform invite --json | jq -r .url", comment: "A link for whoever has it" },
  ],
  run: async (context, { arguments: { email }, options }) => {
    const { client } = await openSession(context);
    // The interpreter has checked that it is one of the choices.
    const role = ROLES.find((known) => known === options.role) ?? "viewer";
    const body = { role, expiresInDays: options.days, ...(email === undefined ? {} : { email }) };
    const invitation = await client.createInvitation({ body });
    context.output.print(invitation.url);
    context.output.note(
      `Valid once, until ${invitation.expiresAt} UTC, ${email === undefined ? "for whoever has it" : `for ${email}`}, as ${role}.`,
    );
    context.output.note("Who has an account accepts it: platform invitations --accept LINK");
    return { json: invitation, succeeded: true };
  },
});
