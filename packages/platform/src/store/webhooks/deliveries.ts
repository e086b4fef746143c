import { randomBytes } from "node:crypto";
import type { WebhookDelivery } from "@platform/contract/platform-api/webhooks";
import { Problem } from "@platform/contract/problems";
import { createUuidV7, isUuid } from "@platform/engine/base/uuid";
import type { Database, RunStatement } from "../../postgres/database.ts";
import { requireRoom } from "../base/bounds.ts";
import { selectMilliseconds } from "../base/columns.ts";
import { cutPage, decodeCursor } from "../base/page.ts";
import type { Page, PageRequest } from "../base/page.ts";
import { IS_OWN_WEBHOOK, toWebhookValues } from "./webhooks.ts";
import type { SealedWebhookSecret, WebhookKey } from "./webhooks.ts";

/*
 * The queue of messages to webhooks. Each webhook has a few under way at a time, and each organisation a share of the calls, so slow ones delay
 * nobody; a message is held by a lease that outlives its call, so what a lost process has begun is sent again: at least once.
 */

/** Messages of one webhook that are sent at the same time. */
const AT_ONCE_EACH = 4;
/** The same of a webhook of starts, and of each origin of their URLs. */
const AT_ONCE_OF_STARTS = 8;
const AT_ONCE_OF_ORIGIN = 2;
/** Of a webhook of starts, a claim looks at so many messages that are due first, and at those of so many origins. */
const MOST_LOOKED_AT = 64;
/** Tries that a message keeps the record of: the last ones. */
const KEPT_ATTEMPTS = 20;

/** One try to deliver a message. */
interface Attempt {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly status: number | null;
  readonly failure: string | null;
  readonly durationMs: number;
}

/** A message and what became of it; times in milliseconds since the epoch. */
export interface DeliveryRecord extends Pick<
  WebhookDelivery,
  "id" | "event" | "executionId" | "status" | "tries"
> {
  /** That the start has named; null: that of the webhook. */
  readonly url: string | null;
  /** Null: it is tried no more. */
  readonly nextAt: number | null;
  readonly createdAt: number;
  readonly attempts: readonly Attempt[];
}

/** The right to send a message once. */
export interface DeliveryClaim {
  readonly id: string;
  readonly attempt: number;
  readonly workerId: string;
  readonly webhookId: string;
  readonly url: string;
  readonly body: string;
  /** The current one first. */
  readonly secrets: readonly SealedWebhookSecret[];
  /** After which it is given up. Milliseconds since the epoch. */
  readonly giveUpAt: number;
}

/** What becomes of a message after a try. */
export type DeliveryEnd =
  | { readonly status: "DELIVERED" }
  /** `isGone`: the receiver wants none any more, and its webhook is paused. */
  | { readonly status: "FAILED"; readonly isGone: boolean }
  | { readonly status: "PENDING"; readonly pauseMs: number };

/** Messages to webhooks. */
export interface DeliveryStore {
  /** Newest first; null: no such webhook of the organisation. */
  readonly list: (
    key: WebhookKey,
    filter: PageRequest & { readonly status?: WebhookDelivery["status"] | undefined },
  ) => Promise<Page<DeliveryRecord> | null>;
  /** A message beside the events of executions. @throws Problem QUOTA_EXCEEDED; CONFLICT for a webhook without a URL */
  readonly addTest: (key: WebhookKey, body: (id: string) => string) => Promise<DeliveryRecord | null>;
  /** Makes it due now, and for another day. */
  readonly redeliver: (key: WebhookKey, deliveryId: string) => Promise<DeliveryRecord | null>;
  /** Messages that are due, of each organisation and within it of each webhook in turn. `left`: calls that the process can make besides those under way. */
  readonly claim: (workerId: string, left: number, leaseSeconds: number) => Promise<readonly DeliveryClaim[]>;
  /** False: another process has claimed it meanwhile, or the webhook was deleted. */
  readonly settle: (claim: DeliveryClaim, attempt: Attempt, end: DeliveryEnd) => Promise<boolean>;
  /** For a process that stops: it is due again. */
  readonly giveBack: (claim: DeliveryClaim) => Promise<void>;
}

const COLUMNS = `d.id, d.event, d.execution_id as "executionId", d.status, d.attempt as tries, d.url,
  case when d.status = 'PENDING' then ${selectMilliseconds("d.next_at")} end as "nextAt", ${selectMilliseconds("d.created_at")} as "createdAt",
  d.attempts`;

/** The store of messages in PostgreSQL. */
export function createDeliveryStore(database: Database): DeliveryStore {
  return {
    list: (key, filter) => listDeliveries(database, key, filter),
    addTest: (key, body) => database.transaction((run) => insertTest(run, key, body)),
    redeliver: (key, deliveryId) => redeliver(database, key, deliveryId),
    claim: (workerId, left, leaseSeconds) => claimDeliveries(database, { workerId, left, leaseSeconds }),
    settle: (claim, attempt, end) => settleDelivery(database, claim, { attempt, end }),
    giveBack: async ({ id, attempt, workerId }) => {
      await database.query({
        text: `update webhook_delivery set lease_until = null, worker_id = null
          where id = $1 and attempt = $2 and worker_id = $3 and status = 'PENDING'`,
        values: [id, attempt, workerId],
        idempotent: true,
      });
    },
  };
}

async function listDeliveries(
  database: Database,
  key: WebhookKey,
  { cursor, limit, status }: PageRequest & { readonly status?: WebhookDelivery["status"] | undefined },
): Promise<Page<DeliveryRecord> | null> {
  const values = toWebhookValues(key);
  if (values === null) return null;
  const [before] = decodeCursor(cursor, [isUuid]) ?? [null];
  const rows = await database.query<DeliveryRecord | { readonly id: null }>({
    // One row of nulls: a webhook without messages.
    text: `select found.* from webhook w left join lateral (
        select ${COLUMNS} from webhook_delivery d
        where d.webhook_id = w.id and ($4::uuid is null or d.id < $4) and ($5::text is null or d.status = $5)
        order by d.id desc limit $6
      ) found on true where ${IS_OWN_WEBHOOK} order by found.id desc`,
    values: [...values, before, status ?? null, limit + 1],
    idempotent: true,
  });
  if (rows.length === 0) return null;
  const deliveries = rows.filter((row): row is DeliveryRecord => row.id !== null);
  return cutPage(deliveries, limit, ({ id }) => [id]);
}

async function insertTest(
  run: RunStatement,
  key: WebhookKey,
  createBody: (id: string) => string,
): Promise<DeliveryRecord | null> {
  const values = toWebhookValues(key);
  if (values === null) return null;
  const [webhook] = await run<{ url: string | null }>({
    text: `select w.url from webhook w where ${IS_OWN_WEBHOOK} for no key update`,
    values,
  });
  if (webhook?.url === null)
    throw new Problem("CONFLICT", "The webhook of starts has no URL of its own; start something with one.");
  await requireRoom(run, "webhookTests", {
    text: "from webhook_delivery where webhook_id = $1 and status = 'PENDING' and execution_id is null",
    values: [key.webhookId],
  });
  const id = createUuidV7();
  const [row] = await run<DeliveryRecord>({
    text: `insert into webhook_delivery as d (id, webhook_id, event, body)
      select $4, w.id, 'test', $5 from webhook w where ${IS_OWN_WEBHOOK} returning ${COLUMNS}`,
    values: [...values, id, createBody(id)],
    audited: ["webhook.test"],
  });
  return row ?? null;
}

async function redeliver(
  database: Database,
  key: WebhookKey,
  deliveryId: string,
): Promise<DeliveryRecord | null> {
  const values = toWebhookValues(key);
  if (values === null || !isUuid(deliveryId)) return null;
  const [row] = await database.query<DeliveryRecord>({
    text: `update webhook_delivery d set status = 'PENDING', next_at = now(), give_up_at = now() + interval '24 hours'
      from webhook w where d.id = $4 and d.webhook_id = w.id and ${IS_OWN_WEBHOOK} returning ${COLUMNS}`,
    values: [...values, deliveryId],
    idempotent: true,
    audited: ["webhook.redeliver"],
  });
  return row ?? null;
}

/** Tests are sent also by a webhook that is paused. */
const IS_DUE = `d.status = 'PENDING' and d.next_at <= now() and (d.lease_until is null or d.lease_until <= now())
  and (not w.is_paused or d.execution_id is null)`;

/** SQL: how many more calls there may be where there may be so many. */
const leaveHeld = (most: number, of: string): string =>
  `greatest(0, ${most} - (select count(*) from held h where h.${of}))`;

/** SQL: messages of the webhook of starts `w` that wait in the lane `l`. */
const IN_LANE = "d.webhook_id = w.id and d.status = 'PENDING' and d.lane";

/**
 * SQL: what is next of the webhook of starts `w`, a few of each origin. The first ones that are due may all be of an origin that hangs, so some
 * origins are looked at besides, from $4 on, which is by chance.
 */
const DUE_OF_STARTS = `select c.id, c.next_at, row_number() over (order by c.turn, c.next_at, c.id) as turn from (
    select c.id, c.next_at, c.lane, row_number() over (partition by c.lane order by c.next_at, c.id) as turn from (
      (select d.id, d.next_at, d.lane from webhook_delivery d where d.webhook_id = w.id and ${IS_DUE}
        order by d.next_at, d.id limit ${MOST_LOOKED_AT})
      union
      select d.id, d.next_at, d.lane from (
        with recursive found as (
          (select d.lane, 1 as number from webhook_delivery d where ${IN_LANE} >= $4::text order by d.lane limit 1)
          union all
          select next.lane, f.number + 1 from found f cross join lateral (
            select d.lane from webhook_delivery d where ${IN_LANE} > f.lane order by d.lane limit 1
          ) next where f.number < ${MOST_LOOKED_AT}
        ) select lane from found
      ) l cross join lateral (
        select d.id, d.next_at, d.lane from webhook_delivery d where d.webhook_id = w.id and d.lane = l.lane and ${IS_DUE}
        order by d.next_at, d.id limit ${AT_ONCE_OF_ORIGIN}
      ) d
    ) c
  ) c where c.turn <= ${leaveHeld(AT_ONCE_OF_ORIGIN, "webhook_id = w.id and h.lane = c.lane")}
  order by c.turn, c.next_at, c.id limit ${leaveHeld(AT_ONCE_OF_STARTS, "webhook_id = w.id")}`;

/** Whether a claim may find something: a small part of the work of one, each second. */
async function isAnyDue(database: Database): Promise<boolean> {
  const rows = await database.query({
    name: "webhook-due",
    // Ordered, as only its index serves that.
    text: `select 1 from webhook w cross join lateral (
        select 1 from webhook_delivery d where d.webhook_id = w.id and d.status = 'PENDING' and d.next_at <= now()
        order by d.next_at limit 1
      ) due limit 1`,
    idempotent: true,
  });
  return rows.length > 0;
}

async function claimDeliveries(
  database: Database,
  {
    workerId,
    left,
    leaseSeconds,
  }: { readonly workerId: string; readonly left: number; readonly leaseSeconds: number },
): Promise<readonly DeliveryClaim[]> {
  if (!(await isAnyDue(database))) return [];
  const rows = await database.query<ClaimRow>({
    name: "webhook-claim",
    text: `with held as materialized (
        select h.webhook_id, h.lane, h.worker_id, w.organisation_id from webhook_delivery h join webhook w on w.id = h.webhook_id
        where h.lease_until is not null and h.lease_until > now()
      ), candidate as (
        -- A few of each webhook, fewer where some are under way.
        select d.*, w.organisation_id from webhook w cross join lateral (
          select d.id, d.next_at, row_number() over (order by d.next_at, d.id) as turn from webhook_delivery d
          where d.webhook_id = w.id and ${IS_DUE} order by d.next_at, d.id limit ${leaveHeld(AT_ONCE_EACH, "webhook_id = w.id")}
        ) d where w.url is not null
        union all
        select d.*, w.organisation_id from webhook w cross join lateral (${DUE_OF_STARTS}) d where w.url is null
      ), placed as (
        -- Whoever has least under way is next: the first ones of all organisations come before the second ones of any, and so within each.
        select c.id, coalesce(own.calls, 0) + row_number() over (partition by c.organisation_id order by c.turn, c.next_at, c.id) as place, c.next_at
        from candidate c left join (
          select organisation_id, count(*) as calls from held where worker_id = $1 group by organisation_id
        ) own on own.organisation_id = c.organisation_id
      ), due as materialized (
        select d.id from webhook_delivery d join webhook w on w.id = d.webhook_id
        where d.id in (select id from placed where place <= $2 order by place, next_at limit $2) and ${IS_DUE}
        for update of d skip locked
      ), claimed as (
        update webhook_delivery d set attempt = d.attempt + 1, worker_id = $1, lease_until = now() + make_interval(secs => $3)
        where d.id in (select id from due) returning d.*
      )
      select d.id, d.attempt, d.webhook_id as "webhookId", coalesce(d.url, w.url) as url, d.body, ${selectMilliseconds("d.give_up_at")} as "giveUpAt",
        w.secret, w.key_id as "keyId", case when w.former_until > now() then w.former_secret end as "formerSecret",
        w.former_key_id as "formerKeyId"
      from claimed d join webhook w on w.id = d.webhook_id`,
    values: [workerId, findShare(left), leaseSeconds, randomBytes(16).toString("hex")],
  });
  return rows.map(({ secret, keyId, formerSecret, formerKeyId, ...claim }) => ({
    ...claim,
    workerId,
    secrets: [
      { sealed: secret, keyId },
      ...(formerSecret === null || formerKeyId === null
        ? []
        : [{ sealed: formerSecret, keyId: formerKeyId }]),
    ],
  }));
}

/**
 * How many calls one organisation may have under way in a process with so many left, and how many are taken with one claim: a quarter of what all
 * others have left, so however many organisations hang, the next one finds some (Choudhury and Hahne, Dynamic queue length thresholds, 1998).
 */
function findShare(left: number): number {
  return Math.max(1, Math.floor(left / 4));
}

interface ClaimRow extends Omit<DeliveryClaim, "workerId" | "secrets"> {
  readonly secret: string;
  readonly keyId: string;
  readonly formerSecret: string | null;
  readonly formerKeyId: string | null;
}

async function settleDelivery(
  database: Database,
  { id, attempt: number, workerId }: DeliveryClaim,
  { attempt, end }: { readonly attempt: Attempt; readonly end: DeliveryEnd },
): Promise<boolean> {
  const rows = await database.query({
    name: "webhook-settle",
    text: `with settled as (
        update webhook_delivery d set status = $4, next_at = now() + make_interval(secs => $5), lease_until = null, worker_id = null,
          attempts = jsonb_path_query_array(d.attempts, '$[last - ${KEPT_ATTEMPTS - 2} to last]') || $6::jsonb
        where d.id = $1 and d.attempt = $2 and d.worker_id = $3 and d.status = 'PENDING' returning d.webhook_id
      ), paused as (
        -- A URL of one start says nothing for those of others.
        update webhook set is_paused = true where $7::boolean and url is not null and id in (select webhook_id from settled)
      ) select 1 from settled`,
    values: [
      id,
      number,
      workerId,
      end.status,
      end.status === "PENDING" ? end.pauseMs / 1_000 : 0,
      JSON.stringify([attempt]),
      end.status === "FAILED" && end.isGone,
    ],
    idempotent: true,
  });
  return rows.length > 0;
}
