import { Type } from "typebox";
import type { Static } from "typebox";
import { READS, WRITES } from "../operation-rows.ts";
import type { OperationTable } from "../operation.ts";
import { ServicePolicySchema } from "../policy.ts";
import { Nullable, Timestamp, pageOf } from "../schemas.ts";
import { PageQuery } from "../service-api.ts";
import { KeyParams } from "./common.ts";

/** Revisions of a policy that are kept. */
export const KEPT_REVISIONS = 100;

const Revision = Type.Object(
  {
    revision: Type.Integer({ description: "Counts from 1; 0: none was ever set" }),
    policy: ServicePolicySchema,
    createdAt: Nullable(Timestamp("When it was set"), { description: "When it was set; null: never" }),
    createdBy: Nullable(Type.String(), { description: "Name of the user who set it; null: nobody" }),
  },
  { title: "PolicyRevision", description: "A revision of the policy of a service" },
);

/** A revision of the policy of a service. */
export type PolicyRevision = Static<typeof Revision>;

/** Operations on the policies of services. */
export const POLICIES_API = {
  getPolicy: {
    ...READS,
    path: "/services/{key}/policy",
    summary: "Get the policy of a service",
    description: "The newest revision, which holds for executions that are started now.",
    params: KeyParams,
    responses: { 200: { description: "Policy", schema: Revision } },
    problems: ["SERVICE_NOT_FOUND"],
  },
  putPolicy: {
    ...WRITES,
    method: "PUT",
    path: "/services/{key}/policy",
    allows: "edit",
    audit: "policy.put",
    summary: "Replace the policy of a service",
    description:
      "As a whole: what is absent is as the platform and the version say. Holds for executions that are started from now on; what waits and what runs keeps what it was started with. The same policy makes no new revision. CONFLICT: `revision` is not the newest one, so another change came first. FORBIDDEN: the operator does not allow the organisation the priority high.",
    params: KeyParams,
    body: Type.Object(
      {
        revision: Type.Integer({
          minimum: 0,
          maximum: 2_147_483_646,
          description: "The revision that this one replaces, as it was read; 0: none was ever set",
        }),
        policy: ServicePolicySchema,
      },
      { additionalProperties: false, title: "PutPolicyRequest", description: "The new policy" },
    ),
    responses: { 200: { description: "The newest revision", schema: Revision } },
    problems: ["SERVICE_NOT_FOUND", "CONFLICT"],
  },
  listPolicyRevisions: {
    ...READS,
    path: "/services/{key}/policy/revisions",
    summary: "List the revisions of the policy of a service",
    description: `Newest first; the last ${KEPT_REVISIONS} are kept.`,
    params: KeyParams,
    query: PageQuery,
    responses: { 200: { description: "One page", schema: pageOf("PolicyRevisionPage", Revision) } },
    problems: ["SERVICE_NOT_FOUND"],
  },
} as const satisfies OperationTable;
