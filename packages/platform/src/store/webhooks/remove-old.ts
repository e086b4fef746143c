import type { Database } from "../../postgres/database.ts";

/** Messages that a webhook keeps the record of, besides those that wait. */
const MOST_KEPT = 10_000;
/** Rows that a statement removes, and statements of a round: as many as all starts of an hour can make. */
const AT_ONCE = 20_000;
const MOST_STATEMENTS = 500;

/** SQL: what is kept no longer. */
const REMOVED = [
  "select id from webhook_delivery where created_at < now() - interval '7 days' limit $1",
  // Of webhooks that were deleted.
  `select d.id from webhook_delivery d where not exists (select 1 from webhook w where w.id = d.webhook_id) limit $1`,
  `select d.id from webhook w cross join lateral (
      select d.id from webhook_delivery d where d.webhook_id = w.id and d.status <> 'PENDING' order by d.id desc offset ${MOST_KEPT}
    ) d limit $1`,
] as const;

/** Removes messages of a week ago, those of webhooks that were deleted, and of each webhook all but the last; returns how many. */
export async function removeOldDeliveries(database: Pick<Database, "query">): Promise<number> {
  let removed = 0;
  for (const found of REMOVED) {
    for (let count = 0; count < MOST_STATEMENTS; count++) {
      const rows = await database.query({
        text: `delete from webhook_delivery where id in (${found}) returning id`,
        values: [AT_ONCE],
        idempotent: true,
      });
      removed += rows.length;
      if (rows.length < AT_ONCE) break;
    }
  }
  return removed;
}
