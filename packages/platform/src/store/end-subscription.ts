import { isUuid } from "@platform/engine/base/uuid";
import type { RunStatement } from "../postgres/database.ts";
import { noteAudit, noteUnchanged } from "./audit/trail.ts";
import { ACCESS_CHANNEL } from "./base/channels.ts";

/** A subscription that the provider of its service ends. */
export interface EndedByProvider {
  /** Of the service. */
  readonly organisationId: string;
  readonly serviceKey: string;
  readonly id: string;
  /** For the subscriber. */
  readonly reason: string;
}

/**
 * Ends a subscription to a service of the organisation: it starts nothing any more, and what it has started goes on. Changing its row waits
 * for the starts before it (executions/ended-owners.ts). One that was ended before stays as it is, with the reason that the subscriber has
 * read: a request may come twice. False: the service has no such subscription.
 */
export async function endAsProvider(run: RunStatement, ended: EndedByProvider): Promise<boolean> {
  const { organisationId, serviceKey, id, reason } = ended;
  if (!isUuid(serviceKey) || !isUuid(id)) return false;
  const [found] = await run<{ readonly hasEnded: boolean }>({
    text: `select b.ended_at is not null as "hasEnded" from service s join subscription b on b.service_key = s.key
      where s.organisation_id = $1 and s.key = $2 and b.id = $3 and b.cancelled_at is null for no key update of b`,
    values: [organisationId, serviceKey, id],
  });
  if (found === undefined) return false;
  if (found.hasEnded) {
    noteUnchanged();
    return true;
  }
  // In the log of the provider alone: an entry names its actor and their address, which are not the subscriber's business.
  noteAudit({ changes: [{ field: "reason", before: null, after: reason }] });
  await run({
    text: `with gone as (
        update subscription set ended_at = now(), end_reason = $2 where id = $1 returning application_id
      ) select application_id from gone
        cross join lateral pg_notify('${ACCESS_CHANNEL}', 'application:' || gone.application_id)`,
    values: [id, reason],
    audited: ["subscription.end"],
  });
  return true;
}
