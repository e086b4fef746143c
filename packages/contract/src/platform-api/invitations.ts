import { Type } from "typebox";
import { READS, REMOVES, WRITES } from "../operation-rows.ts";
import type { OperationTable } from "../operation.ts";
import { ROLES } from "../permissions.ts";
import { PageQuery } from "../service-api.ts";
import { Nullable, StringEnum, Timestamp, pageOf } from "../schemas.ts";
import { OWN, OrganizationSchema } from "./account.ts";
import { EmailAddress } from "./common.ts";

const InvitedRole = StringEnum(ROLES, { description: "Role of who accepts" });

const InvitationSchema = Type.Object(
  {
    id: Type.String({ description: "Identifier of the invitation" }),
    email: Nullable(Type.String(), {
      description: "Only the user with this address can accept; null: whoever has the link",
    }),
    role: InvitedRole,
    invitedBy: Type.String({ description: "Name of the user who made it" }),
    createdAt: Timestamp("When it was made"),
    expiresAt: Timestamp("Until when it can be accepted"),
    declinedAt: Nullable(Timestamp("When its reader declined it"), {
      description: "When its reader declined it, so that nobody can accept it; null: it is open",
    }),
  },
  { title: "Invitation", description: "An invitation to an organisation, without its link" },
);

/** One name for both: paths that differ in the name of a parameter only are the same path in OpenAPI. */
const ById = Type.Object({ invitation: Type.String({ description: "Identifier of the invitation" }) });
const ByToken = Type.Object({
  invitation: Type.String({ description: "Last part of the invitation's link, not its identifier" }),
});

/** Operations on invitations: a link that makes its reader a member, once. */
export const INVITATIONS_API = {
  listInvitations: {
    ...READS,
    allows: "administer",
    path: "/invitations",
    summary: "List the open and the declined invitations of the organisation",
    description:
      "Newest first, without those that were accepted, were revoked, or have expired. One that was declined is listed until it would have expired, or is revoked.",
    query: PageQuery,
    responses: { 200: { description: "One page", schema: pageOf("InvitationPage", InvitationSchema) } },
  },
  createInvitation: {
    ...WRITES,
    allows: "administer",
    path: "/invitations",
    audit: "invitation.create",
    summary: "Invite somebody; the link is shown once",
    description:
      "Who opens the link becomes a member, once. With an address only the user with this address can accept, and the link is sent there if the platform has a mail server. An invitation ends with the membership, or the role, of who made it.",
    body: Type.Object(
      {
        email: Type.Optional(EmailAddress),
        role: InvitedRole,
        expiresInDays: Type.Optional(
          Type.Integer({ minimum: 1, maximum: 30, description: "Days until it expires; default 7" }),
        ),
      },
      { additionalProperties: false, title: "CreateInvitationRequest", description: "Whom to invite" },
    ),
    responses: {
      201: {
        description: "Created",
        schema: Type.Object(
          {
            ...InvitationSchema.properties,
            url: Type.String({ description: "The link, shown once" }),
          },
          { title: "CreatedInvitation", description: "A new invitation with its link" },
        ),
      },
    },
    problems: ["CONFLICT", "QUOTA_EXCEEDED", "RATE_LIMITED"],
  },
  revokeInvitation: {
    ...REMOVES,
    allows: "administer",
    path: "/invitations/{invitation}",
    audit: "invitation.revoke",
    summary: "Revoke an invitation",
    description: "Its link cannot be used from then on. One that was declined leaves the list.",
    params: ById,
    responses: { 204: { description: "Revoked" } },
    problems: ["NOT_FOUND"],
  },
  getInvitation: {
    ...READS,
    allows: "public",
    scope: "platform",
    path: "/invitations/{invitation}",
    summary: "Get what an invitation is for",
    description: "Needs no credentials but the link's token.",
    params: ByToken,
    responses: {
      200: {
        description: "What it is for",
        schema: Type.Object(
          {
            organizationName: Type.String({ description: "Name of the organisation" }),
            role: InvitedRole,
            invitedBy: Type.String({ description: "Name of the user who made it" }),
            expiresAt: Timestamp("Until when it can be accepted"),
          },
          { title: "InvitationView", description: "What the reader of an invitation is shown" },
        ),
      },
    },
    problems: ["NOT_FOUND", "LINK_EXPIRED", "RATE_LIMITED"],
  },
  acceptInvitation: {
    ...WRITES,
    ...OWN,
    bodyMode: "none",
    path: "/invitations/{invitation}/accept",
    audit: "invitation.accept",
    summary: "Accept an invitation",
    description:
      "The calling user becomes a member. Who is a member already is refused and keeps their role; the invitation stays open.",
    params: ByToken,
    responses: { 200: { description: "The organisation", schema: OrganizationSchema } },
    problems: ["NOT_FOUND", "LINK_EXPIRED", "CONFLICT", "QUOTA_EXCEEDED"],
  },
  declineInvitation: {
    ...WRITES,
    allows: "public",
    scope: "platform",
    bodyMode: "none",
    answerMode: "none",
    path: "/invitations/{invitation}/decline",
    audit: "invitation.decline",
    summary: "Decline an invitation",
    description:
      "Needs no credentials but the link's token, which opens nothing from then on. The organisation reads that it was declined, and not by whom: whoever has the link can.",
    params: ByToken,
    responses: { 204: { description: "Declined" } },
    problems: ["NOT_FOUND", "LINK_EXPIRED", "RATE_LIMITED"],
  },
} as const satisfies OperationTable;
