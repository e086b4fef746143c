import { ROLES } from "@platform/contract/permissions";
import type { Role } from "@platform/contract/permissions";
import { defineCommand } from "../base/command.ts";
import type { CommandContext } from "../base/context.ts";
import { UserError, createUsageError } from "../base/errors.ts";
import { cleanText } from "../base/output.ts";
import { openSession, readAllPages } from "../base/session.ts";
import type { PlatformClient } from "../base/session.ts";

type Member = Awaited<ReturnType<PlatformClient["listMembers"]>>["items"][number];

/** `platform members`: lists members, changes the role of one, or removes one. */
export const membersCommand = defineCommand({
  name: "members",
  summary: "List, change or remove the members of the organisation",
  description: [
    "Without an argument, lists all members. With a member, shows this one; --role changes the role, --remove ends the membership.",
    "Only owners change members; 'platform members me --remove' leaves the organisation. The last owner stays.",
  ],
  arguments: {
    member: { description: "Email address or id of a member; me: yourself", required: false },
  },
  options: {
    role: { kind: "text", placeholder: "role", description: "The member's new role", choices: ROLES },
    remove: { kind: "flag", description: "Remove the member" },
  },
  exclusive: [["role", "remove"]],
  examples: [
    { command: "platform members", comment: "A table" },
    { command: "platform members ada@example.org --role maintainer", comment: "Change a role" },
    { command: "platform members me --remove", comment: "Leave the organisation" },
  ],
  run: async (context, { arguments: { member: wanted }, options: { role, remove } }) => {
    const { client } = await openSession(context);
    if (wanted === undefined) {
      if (role !== undefined || remove)
        throw createUsageError("A member is required.", "Pass an email address, an id, or me.");
      const members = await readAllPages((query) => client.listMembers({ query }));
      printMembers(context, members);
      return { json: members, succeeded: true };
    }
    const member = await findMember(client, wanted);
    if (remove) return await removeMember(context, client, member, wanted === "me");
    const shown = role === undefined ? member : await changeRole(client, member, role);
    printMembers(context, [shown]);
    return { json: shown, succeeded: true };
  },
});

async function findMember(client: PlatformClient, wanted: string): Promise<Member> {
  const members = await readAllPages((query) => client.listMembers({ query }));
  const key = wanted === "me" ? (await client.getMe({})).id : wanted.toLowerCase();
  const found = members.find(({ userId, email }) => userId === key || email === key);
  if (found !== undefined) return found;
  throw new UserError("MEMBER_NOT_FOUND", `The organisation has no member '${wanted}'.`, {
    hint: "'platform members' lists them, 'platform invite' invites somebody.",
  });
}

async function changeRole(client: PlatformClient, { userId }: Member, role: string): Promise<Member> {
  // The interpreter has checked that it is one of the choices.
  const body = { role: ROLES.find((known): known is Role => known === role) ?? "viewer" };
  return await client.putMember({ params: { userId }, body });
}

async function removeMember(
  context: CommandContext,
  client: PlatformClient,
  member: Member,
  isOwn: boolean,
): Promise<{ readonly json: Member; readonly succeeded: true }> {
  if (isOwn) await client.leaveOrganization({});
  else await client.removeMember({ params: { userId: member.userId } });
  context.output.print(isOwn ? "You have left the organisation." : `Removed ${cleanText(member.email)}.`);
  return { json: member, succeeded: true };
}

function printMembers({ output }: CommandContext, members: readonly Member[]): void {
  output.printTable(
    ["EMAIL", "NAME", "ROLE", "JOINED", "LAST SEEN"],
    members.map(({ email, name, role, joinedAt, lastSeenAt }) => [
      cleanText(email),
      cleanText(name),
      role,
      joinedAt,
      lastSeenAt ?? "-",
    ]),
  );
}
