import { formatTimestamp } from "@platform/contract/execution";
import { AUDIT_ACTIONS } from "@platform/contract/platform-api/audit-actions";
import type { AUDIT_API, AuditEvent } from "@platform/contract/platform-api/audit";
import { Problem } from "@platform/contract/problems";
import { readPage, readTime } from "@platform/engine/http/paging";
import type { OperationHandlers } from "@platform/engine/http/types";
import type { AuditLog, AuditRecord } from "../store/audit/log.ts";
import type { AuditChange } from "../store/audit/trail.ts";
import type { PlatformCaller } from "./caller.ts";

/** Handlers that read an organisation's audit log. */
export function createAuditHandlers(
  log: Pick<AuditLog, "list" | "verify">,
): OperationHandlers<typeof AUDIT_API, PlatformCaller> {
  return {
    listAuditEvents: async ({ caller, query }) => {
      requireAction(query.action);
      const page = await log.list(caller.organisationId, {
        ...query,
        ...readPage(query),
        after: readTime("after", query.after),
        before: readTime("before", query.before),
      });
      return { status: 200, body: { items: page.items.map(toEventBody), nextCursor: page.nextCursor } };
    },
    verifyAuditLog: async ({ caller, query }) => {
      const { checked, firstBroken, nextCursor } = await log.verify(caller.organisationId, query.cursor);
      return { status: 200, body: { checked, firstBroken, nextCursor } };
    },
  };
}

/** A name that no entry can have is mistyped: an empty list would say that nobody has done it. @throws Problem INVALID_INPUT */
function requireAction(action: string | undefined): void {
  if (action === undefined || AUDIT_ACTIONS.includes(action)) return;
  const message = `There is no such action; known are ${AUDIT_ACTIONS.join(", ")}.`;
  throw new Problem("INVALID_INPUT", message, { errors: [{ path: "/action", message }] });
}

function toEventBody(record: AuditRecord): AuditEvent {
  const { sequence, at, actorKind, actorId, actorName, credential, action, target, ip, changes } = record;
  const { outcome, code, hash } = record;
  const [targetType = ""] = action.split(".");
  return {
    id: sequence,
    at: formatTimestamp(at),
    milliseconds: at,
    actor: { kind: actorKind, id: actorId, name: actorName, credential },
    action,
    target: { type: targetType, id: target?.split("/").at(-1) ?? null, path: target },
    outcome,
    code,
    ip,
    changes: readChanges(changes),
    hash,
  };
}

/** Written by `appendEntry`, so of this form. */
function readChanges(text: string): AuditChange[] {
  const parsed: unknown = JSON.parse(text);
  return Array.isArray(parsed) ? parsed : [];
}
