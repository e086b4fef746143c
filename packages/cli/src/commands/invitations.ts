import { defineCommand } from "../base/command.ts";
import { createUsageError } from "../base/errors.ts";
import { cleanText } from "../base/output.ts";
import { openSession, readAllPages } from "../base/session.ts";

/** `platform invitations`: lists open invitations, or revokes one. */
export const invitationsCommand = defineCommand({
  name: "invitations",
  summary: "List or revoke open invitations",
  description: ["Newest first. Their links were shown when they were made, and cannot be shown again."],
  arguments: {},
  options: {
    revoke: { kind: "text", placeholder: "id", description: "Revoke the invitation with this id" },
  },
  examples: [
    { command: "platform invitations", comment: "A table" },
    {
      command: "platform invitations --revoke 0198c1de-7a53-7000-8000-000000000000",
      comment: "End an invitation",
    },
  ],
  run: async (context, { options: { revoke } }) => {
    const { client } = await openSession(context);
    if (revoke === "")
      throw createUsageError("An id is required.", "'platform invitations' lists the open ones.");
    if (revoke !== undefined) {
      await client.revokeInvitation({ params: { invitation: revoke } });
      context.output.print("The invitation was revoked.");
      return { json: { id: revoke }, succeeded: true };
    }
    const invitations = await readAllPages((query) => client.listInvitations({ query }));
    if (invitations.length === 0)
      context.output.print("No open invitations. Make one with 'platform invite'.");
    else
      context.output.printTable(
        ["ID", "FOR", "ROLE", "BY", "EXPIRES"],
        invitations.map(({ id, email, role, invitedBy, expiresAt }) => [
          id,
          cleanText(email ?? "whoever has the link"),
          role,
          cleanText(invitedBy),
          expiresAt,
        ]),
      );
    return { json: invitations, succeeded: true };
  },
});
