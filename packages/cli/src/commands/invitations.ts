import { defineCommand } from "../base/command.ts";
import { cleanText } from "../base/output.ts";
import { openSession, readAllPages } from "../base/session.ts";
import { readLinkToken, refuseLink } from "./link-token.ts";

/** `platform invitations`: lists invitations, revokes one, or answers one. */
export const invitationsCommand = defineCommand({
  name: "invitations",
  summary: "List, revoke, accept or decline invitations",
  description: [
    "Lists the open ones, newest first, and those that were declined until they would have expired. Their links were shown when they were made, and cannot be shown again.",
    "--accept makes you a member of the organisation that invites; 'platform set-context' works in it then.",
  ],
  arguments: {},
  options: {
    revoke: { kind: "text", placeholder: "id", description: "Revoke the invitation with this id" },
    accept: { kind: "text", placeholder: "link", description: "Accept the invitation with this link" },
    decline: {
      kind: "text",
      placeholder: "link",
      description: "Decline the invitation with this link: nobody can accept it any more",
    },
  },
  exclusive: [["revoke", "accept", "decline"]],
  examples: [
    { command: "platform invitations", comment: "A table" },
    {
      command: "platform invitations --accept https://platform.example.org/invitations/JLjMS-9",
      comment: "Become a member",
    },
    {
      command: "platform invitations --revoke 0198c1de-7a53-7000-8000-000000000000",
      comment: "End an invitation",
    },
  ],
  run: async (context, { options: { revoke, accept, decline } }) => {
    const { client } = await openSession(context);
    if (accept !== undefined) {
      const joined = await client
        .acceptInvitation({ params: { invitation: readLinkToken(accept) } })
        .catch(refuseLink);
      context.output.print(`You are a member of ${cleanText(joined.name)}, as ${joined.role}.`);
      return { json: joined, succeeded: true };
    }
    if (decline !== undefined) {
      await client.declineInvitation({ params: { invitation: readLinkToken(decline) } }).catch(refuseLink);
      context.output.print("The invitation was declined; its organisation can see that.");
      return { json: { declined: true }, succeeded: true };
    }
    if (revoke !== undefined) {
      await client.revokeInvitation({ params: { invitation: revoke } });
      context.output.print("The invitation was revoked.");
      return { json: { id: revoke }, succeeded: true };
    }
    const invitations = await readAllPages((query) => client.listInvitations({ query }));
    context.output.printTable(
      ["ID", "FOR", "ROLE", "BY", "EXPIRES"],
      invitations.map(({ id, email, role, invitedBy, expiresAt, declinedAt }) => [
        id,
        cleanText(email ?? "whoever has the link"),
        role,
        cleanText(invitedBy),
        declinedAt === null ? expiresAt : `declined ${declinedAt}`,
      ]),
      "No open invitations. Make one with 'platform invite'.",
    );
    return { json: invitations, succeeded: true };
  },
});
