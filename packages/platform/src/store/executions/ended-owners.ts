import { Problem } from "@platform/contract/problems";
import type { Owner } from "@platform/engine/store/owner";

/*
 * Nothing is started for an owner that has ended: a subscription, or the organisation of a job. A request is let in before its body is
 * read, and a statement sees what was committed before it began; so the statement that creates executions locks the rows of its owners,
 * for share, and reads them as they are then. Whoever ends an owner changes its row: it waits for the starts before it, which it
 * then sees, and those after it see the end.
 *
 * In the order of ids, subscriptions before their quotas (hold.ts), so that no two statements wait for each other. An owner without a row
 * has not ended.
 */

const selectSubscriptions = (
  condition: string,
) => `select b.id, (b.cancelled_at is not null or b.ended_at is not null) as has_ended from subscription b
      where ${condition} order by b.id for share`;

/** Whoever deletes an organisation locks it for update first (accounts/organisations.ts), so this is enough, and lets others change it. */
const selectOrganisations = (
  condition: string,
) => `select o.id, o.deleted_at is not null as has_ended from organisation o
      where ${condition} order by o.id for key share`;

const selectEnded = (ofSubscriptions: string, ofOrganisations: string) => `ended as materialized (
    -- "filter", since PostgreSQL evaluates a condition before it locks: a row that it leaves out is not waited for.
    select coalesce(array_agg(id) filter (where has_ended), '{}') as owners from (
      select * from (${selectSubscriptions(ofSubscriptions)}) subscriptions
      union all select * from (${selectOrganisations(ofOrganisations)}) organisations
    ) locked
  )`;

const ofKind = (kind: Owner["kind"]) =>
  `any (array(select distinct i.owner_id from input i where i.owner_kind = '${kind}'))`;

/** CTE: the owners in `input` that have ended, as an array (see LOCK_QUOTAS). */
export const LOCK_OWNERS = selectEnded(
  `b.id = ${ofKind("subscription")}`,
  `o.id = ${ofKind("organisation")}`,
);

/** The same for one owner, of the given kind and id. */
export const lockOwner = (kind: string, id: string): string =>
  selectEnded(`b.id = ${id} and ${kind} = 'subscription'`, `o.id = ${id} and ${kind} = 'organisation'`);

/** SQL: an array of the owners that have ended. */
export const ENDED_OWNERS = "(select owners from ended)::uuid[]";

/** For a start whose owner ended meanwhile. */
export function refuseEnded({ kind }: Owner): Problem {
  if (kind === "organisation") return new Problem("FORBIDDEN", "The organisation was deleted meanwhile.");
  return new Problem(
    "NOT_SUBSCRIBED",
    "The subscription has ended meanwhile; if there is a new one, start again.",
  );
}
