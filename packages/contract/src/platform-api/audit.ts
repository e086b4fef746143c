import { Type } from "typebox";
import type { Static } from "typebox";
import { READS } from "../operation-rows.ts";
import type { OperationTable } from "../operation.ts";
import { SEARCH_LIMITS } from "../search-limits.ts";
import { PageQuery } from "../service-api.ts";
import { Nullable, StringEnum, Timestamp, pageOf } from "../schemas.ts";

const ActorSchema = Type.Object(
  {
    kind: StringEnum(["user", "claimed", "application", "operator"], {
      description:
        "claimed: somebody who said to be this user, and did not prove it; application: its execution did it; operator: a user who runs the platform did it as such, without an id somebody with the server's command line",
    }),
    id: Nullable(Type.String(), { description: "Identifier of the user or application" }),
    name: Type.String({ description: "Email address of the user, or name of the application, at that time" }),
    credential: Nullable(Type.String(), {
      description: "`token:<id>` or `session:<id>`; null: none was shown",
    }),
  },
  { title: "AuditActor", description: "Who did it" },
);

const TargetSchema = Type.Object(
  {
    type: Type.String({ description: "Kind of the resource" }),
    id: Nullable(Type.String(), { description: "Identifier of the resource" }),
    path: Nullable(Type.String(), {
      description: "This identifier and those that it lies in, the outer ones first, separated by slashes",
    }),
  },
  { title: "AuditTarget", description: "What it was done to" },
);

const ChangeSchema = Type.Object(
  {
    field: Type.String({ description: "Name of the field" }),
    before: Nullable(Type.String(), { description: "Former value; null: none, or it is not known" }),
    after: Nullable(Type.String(), { description: "New value; null: none" }),
  },
  { title: "AuditChange", description: "A value that was changed; never a secret" },
);

const AuditEventSchema = Type.Object(
  {
    id: Type.String({ description: "Number of the entry in the organisation's log, from 1, without gaps" }),
    at: Timestamp("When it was written"),
    milliseconds: Type.Number({ description: "The same time in milliseconds since 1970, as it is hashed" }),
    actor: ActorSchema,
    action: Type.String({ description: "What was done: `resource.verb`", examples: ["access-key.revoke"] }),
    target: TargetSchema,
    outcome: StringEnum(["done", "refused"], {
      description: "refused: the actor may not do this, so nothing has changed",
    }),
    code: Nullable(Type.String(), { description: "Of a refusal: the code of the problem" }),
    ip: Type.String({ description: "Address of the client; empty: an execution did it" }),
    changes: Type.Array(ChangeSchema, {
      description: "What was changed, where that says more than the action",
    }),
    hash: Type.String({
      description: "SHA-256 of the former entry's hash and of this entry, in hexadecimal",
    }),
  },
  { title: "AuditEvent", description: "An entry of the audit log" },
);
/** An entry of the audit log. */
export type AuditEvent = Static<typeof AuditEventSchema>;

const VerificationSchema = Type.Object(
  {
    checked: Type.Integer({ description: "How many entries were compared" }),
    firstBroken: Nullable(Type.String(), {
      description: "Number of the first entry that is missing or was changed; null: none was found",
    }),
    nextCursor: Nullable(Type.String(), {
      description: "Pass as `cursor` to go on; null: the log was compared to its end, or is broken",
    }),
  },
  { title: "AuditVerification", description: "Whether a part of the audit log is as it was written" },
);

const Word = (description: string) =>
  Type.String({ minLength: 1, maxLength: SEARCH_LIMITS.audit, description });

const OWNERS = { ...READS, allows: "administer" } as const;

/** The audit log of an organisation, which nobody can change. */
export const AUDIT_API = {
  listAuditEvents: {
    ...OWNERS,
    path: "/audit-events",
    summary: "List the audit log of the organisation",
    description:
      "Newest first: who changed what, when, from where; and who was refused. What a user does to their own account stands in the log of their own organisation. Starts of jobs are not in it: the jobs themselves are listed. With a filter, a page is of the next 20,000 entries: it may be empty while `nextCursor` leads to more.",
    query: Type.Object({
      ...PageQuery.properties,
      actor: Type.Optional(Word("Only what this user or application did: identifier, email address or name")),
      action: Type.Optional(Word("Only this action; what is none is refused with those that there are")),
      targetType: Type.Optional(Word("Only what was done to resources of this kind")),
      targetId: Type.Optional(Word("Only what was done to this resource, or to what lies in it")),
      after: Type.Optional(Timestamp("Only entries of then or later")),
      before: Type.Optional(Timestamp("Only earlier entries")),
    }),
    responses: { 200: { description: "One page", schema: pageOf("AuditEventPage", AuditEventSchema) } },
  },
  verifyAuditLog: {
    ...OWNERS,
    path: "/audit-events/verification",
    summary: "Verify the audit log of the organisation",
    description:
      "Computes the hashes again, a thousand entries a call from the first one on, and names the first entry that is missing or was changed.",
    query: Type.Object({ cursor: PageQuery.properties.cursor }),
    responses: { 200: { description: "What was found", schema: VerificationSchema } },
  },
} as const satisfies OperationTable;
