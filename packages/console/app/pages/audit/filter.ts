import { SEARCH_LIMITS } from "@platform/contract/search-limits";
import { AUDIT_ACTION_NAMES } from "@platform/contract/words.gen";
import type { RequestOf } from "../../api/client.ts";
import { toCommandLine } from "../../util/command-line.ts";
import { search, text, time } from "../../util/url-state.ts";

/** The filter of the audit log as it stands in the URL. */
export const auditSearch = search({
  actor: text(SEARCH_LIMITS.audit),
  action: text(),
  target: text(SEARCH_LIMITS.audit),
  after: time(),
  before: time(),
});

/** What the URL says. */
export type AuditSearch = ReturnType<typeof auditSearch>;

/** The filter as the platform takes it. */
export type AuditFilter = Omit<NonNullable<RequestOf<"listAuditEvents">["query"]>, "limit" | "cursor">;

/** What the platform would refuse is left out: a broken link shows more, and no error. */
export function toAuditFilter({ actor, action, target, after, before }: AuditSearch): AuditFilter {
  const filter = {
    actor,
    action: AUDIT_ACTION_NAMES.find((name) => name === action),
    targetId: target,
    after,
    before,
  };
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined)) as AuditFilter;
}

/** The command that shows the same, for a POSIX shell. */
export function toAuditCommand({ actor, action, targetId, after, before }: AuditFilter): string {
  return toCommandLine("platform audit", { actor, action, target: targetId, after, before });
}

/** The parameters that filter, all taken out. */
export const NO_AUDIT_FILTER = {
  actor: undefined,
  action: undefined,
  target: undefined,
  after: undefined,
  before: undefined,
} as const satisfies Record<keyof AuditSearch, undefined>;
