import { PLATFORM_API } from "@platform/contract/platform-api/platform-api";
import type { PolicyRevision } from "@platform/contract/platform-api/policies";
import { Problem } from "@platform/contract/problems";
import type { OperationHandlers } from "@platform/engine/http/types";

const { getPolicy, putPolicy, listPolicyRevisions } = PLATFORM_API;

/** The operations of policies that the peer has. */
export const POLICIES_TABLE = { getPolicy, putPolicy, listPolicyRevisions };

/** One policy, of every service. */
export function createPolicies(): OperationHandlers<typeof POLICIES_TABLE, null> {
  const revisions: PolicyRevision[] = [];
  const newest = () => revisions[0] ?? { revision: 0, policy: {}, createdAt: null, createdBy: null };
  return {
    getPolicy: async () => ({ status: 200, body: newest() }),
    putPolicy: async ({ body: { revision, policy } }) => {
      if (newest().revision !== revision) throw new Problem("CONFLICT");
      revisions.unshift({
        revision: revision + 1,
        policy,
        createdAt: "2026-11-20 21:17:00",
        createdBy: "Ada",
      });
      return { status: 200, body: newest() };
    },
    listPolicyRevisions: async () => ({ status: 200, body: { items: revisions, nextCursor: null } }),
  };
}
