import { AUDIT_ACTION_NAMES } from "@platform/contract/words.gen";
import type { RequestOf } from "../../api/client.ts";
import { toCommandLine } from "../../util/command-line.ts";
import { search, text, time } from "../../util/url-state.ts";

/** The filter of the audit log as it stands in the URL. */
export const auditSearch = search({
  actor: text(),
  action: text(),
  target: text(),
  after: time(),
  before: time(),
});

/** What the URL says. */
export type AuditSearch = ReturnType<typeof auditSearch>;

/** The filter as the platform takes it. */
export type AuditFilter = Omit<NonNullable<RequestOf<"listAuditEvents">["query"]>, "limit" | "cursor">;

/** The most characters of a word that is searched for. */
const MAX_WORD = 200;

/** What the platform would refuse is left out: a broken link shows more, and no error. */
export function toAuditFilter({ actor, action, target, after, before }: AuditSearch): AuditFilter {
  const filter = {
    actor: actor?.slice(0, MAX_WORD),
    action: AUDIT_ACTION_NAMES.find((name) => name === action),
    targetId: target?.slice(0, MAX_WORD),
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
