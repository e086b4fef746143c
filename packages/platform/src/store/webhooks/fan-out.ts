import { createHash } from "node:crypto";
import { createUuidV7 } from "@platform/engine/base/uuid";
import type { Change, Message } from "@platform/engine/webhooks/message";
import type { Database, RunStatement } from "../../postgres/database.ts";
import { selectMilliseconds } from "../base/columns.ts";
import { WEBHOOK_URL } from "../executions/create-statement.ts";
import { lookUp } from "../executions/lookup.ts";

/** Events of the feed that one transaction reads. */
const AT_ONCE = 500;
/** Messages that wait for one webhook; beyond, it misses events, which stay in the feed. */
const MOST_WAITING = 10_000;

/** How many events were read; `nobody`: there is no webhook, and all events so far are passed over; `elsewhere`: another process reads them. */
export type FanOut = number | "nobody" | "elsewhere";

/**
 * Makes messages of the next events of the feed, once for each webhook of the application, or of the organisation's jobs, that asks for them,
 * and once for the URL that the start has named; one process at a time.
 *
 * @param describe the message of a change; pure
 */
export async function fanOut(database: Database, describe: (change: Change) => Message): Promise<FanOut> {
  const [asked] = await database.query<{ isAsked: boolean }>({
    name: "webhook-asked",
    // A webhook that is being made is told of what follows its commit.
    text: `with passed as (
        update webhook_mark set position = last.position from feed_mark last
        where last.name = 'sequenced' and webhook_mark.position < last.position and not exists (select 1 from webhook)
      ) select exists (select 1 from webhook) as "isAsked"`,
    idempotent: true,
  });
  if (asked?.isAsked !== true) return "nobody";
  return await database.transaction(async (run) => {
    const [mark] = await run<{ position: string }>({
      text: "select position::text from webhook_mark for update skip locked",
    });
    if (mark === undefined) return "elsewhere";
    const events = await readEvents(run, mark.position);
    const last = events.at(-1);
    if (last === undefined) return 0;
    await addMessages(run, events, describe);
    await run({ text: "update webhook_mark set position = $1", values: [last.position] });
    return new Set(events.map(({ position }) => position)).size;
  });
}

/** An event, once for each webhook that is told of it; without one, once or more with null. */
interface EventRow extends Change {
  readonly position: string;
  readonly webhookId: string | null;
  /** Of the start; null: that of the webhook. */
  readonly url: string | null;
}

async function readEvents(run: RunStatement, after: string): Promise<readonly EventRow[]> {
  return await run<EventRow>({
    text: `with event as materialized (
        select * from feed_event where position > $1 order by position limit ${AT_ONCE}
      ), own as materialized (
        select w.* from webhook w where w.application_id in (select application_id from event)
        union all
        select w.* from webhook w where w.application_id is null
          and w.organisation_id in (select organisation_id from event where application_id is null)
      ), asked as materialized (
        select w.* from own w where not w.is_paused and (select count(*) from (
          select 1 from webhook_delivery d where d.webhook_id = w.id and d.status = 'PENDING' limit ${MOST_WAITING}
        ) waiting) < ${MOST_WAITING}
      )
      select e.position::text, e.execution_id as "executionId", e.status, e.code, ${selectMilliseconds("e.at")} as at,
        e.service_key as "serviceKey", e.version, e.subscription_id as "subscriptionId", start.url,
        case when w.url is not null or start.url is not null then w.id end as "webhookId"
      from event e left join asked w on w.organisation_id = e.organisation_id and w.application_id is not distinct from e.application_id
          and 'execution.' || lower(e.status) = any (w.events) and (w.url is null or w.created_at <= e.at)
        -- Only of those whose owner has named URLs at all.
        left join lateral (
          select i."references" ->> '${WEBHOOK_URL}' as url from execution_input i
          where w.id is not null and w.url is null and ${lookUp("i", "e.execution_id")}
        ) start on true
      order by e.position, w.id`,
    values: [after],
  });
}

async function addMessages(
  run: RunStatement,
  events: readonly EventRow[],
  describe: (change: Change) => Message,
): Promise<void> {
  const messages = events
    .filter(({ webhookId }) => webhookId !== null)
    .map(({ position: _position, webhookId, url, ...change }) => ({
      id: createUuidV7(),
      webhookId,
      url,
      lane: url === null ? null : nameLane(url),
      executionId: change.executionId,
      ...describe(change),
    }));
  if (messages.length === 0) return;
  await run({
    text: `insert into webhook_delivery (id, webhook_id, execution_id, event, body, url, lane)
      select m.* from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[])
        as m (id, webhook_id, execution_id, event, body, url, lane)
      -- It may have been deleted since it was read.
      where exists (select 1 from webhook w where w.id = m.webhook_id for key share)`,
    values: [
      messages.map(({ id }) => id),
      messages.map(({ webhookId }) => webhookId),
      messages.map(({ executionId }) => executionId),
      messages.map(({ event }) => event),
      messages.map(({ body }) => body),
      messages.map(({ url }) => url),
      messages.map(({ lane }) => lane),
    ],
  });
}

/** The same for all URLs of an origin, which share its calls. */
function nameLane(url: string): string {
  return createHash("md5").update(new URL(url).origin).digest("hex");
}
