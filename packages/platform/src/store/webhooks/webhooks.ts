import type { WebhookEvent } from "@platform/contract/platform-api/webhooks";
import { createUuidV7, isUuid } from "@platform/engine/base/uuid";
import type { Database, RunStatement } from "../../postgres/database.ts";
import { noteAudit } from "../audit/trail.ts";
import { requireRoom } from "../base/bounds.ts";
import { selectMilliseconds } from "../base/columns.ts";
import { cutPage, decodeCursor } from "../base/page.ts";
import type { Page, PageRequest } from "../base/page.ts";

/** A secret as it is stored. */
export interface SealedWebhookSecret {
  readonly sealed: string;
  readonly keyId: string;
}

/** A URL that is told what becomes of executions; times in milliseconds since the epoch. */
export interface WebhookRecord {
  readonly id: string;
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  readonly isPaused: boolean;
  readonly createdAt: number;
  /** Until when the former secret signs as well; null: there is none. */
  readonly formerSecretUntil: number | null;
  /** Messages that are not delivered yet. */
  readonly waiting: number;
}

/** Names an application and who asks: webhooks of another organisation's are as if there were none. */
export interface WebhookScope {
  readonly organisationId: string;
  readonly applicationId: string;
}

/** Names a webhook. */
export interface WebhookKey extends WebhookScope {
  readonly webhookId: string;
}

interface NewWebhook extends Pick<WebhookRecord, "url" | "events">, SealedWebhookSecret {
  readonly id: string;
  /** Id of the user. */
  readonly createdBy: string;
}

/** What is left out stays. */
export type WebhookChange = Partial<Pick<WebhookRecord, "url" | "events" | "isPaused">>;

/** Webhooks of applications. Null: the organisation has no such application, or it has no such webhook. */
export interface WebhookStore {
  /** Newest first. */
  readonly list: (scope: WebhookScope, page: PageRequest) => Promise<Page<WebhookRecord> | null>;
  readonly find: (key: WebhookKey) => Promise<WebhookRecord | null>;
  /** @throws Problem QUOTA_EXCEEDED */
  readonly create: (scope: WebhookScope, webhook: NewWebhook) => Promise<WebhookRecord | null>;
  readonly change: (key: WebhookKey, change: WebhookChange) => Promise<WebhookRecord | null>;
  /** The former secret ends after so many hours; one that is still there ends now. */
  readonly rotate: (
    key: WebhookKey,
    next: SealedWebhookSecret,
    hours: number,
  ) => Promise<WebhookRecord | null>;
  /** With its messages. False: there was none. */
  readonly delete: (key: WebhookKey) => Promise<boolean>;
  /** Secrets, former ones included, that are sealed with another key: up to so many. */
  readonly listSealedOtherwise: (
    keyId: string,
    after: string | null,
    limit: number,
  ) => Promise<readonly SealedOtherwise[]>;
  /** Replaces what is still sealed so. False: it was changed meanwhile. */
  readonly reseal: (former: SealedOtherwise, sealed: SealedWebhookSecret) => Promise<boolean>;
}

/** A secret that is sealed with another key than the current one. */
export interface SealedOtherwise extends SealedWebhookSecret {
  readonly id: string;
  readonly which: "secret" | "former_secret";
}

const COLUMNS = `w.id, w.url, w.events, w.is_paused as "isPaused", ${selectMilliseconds("w.created_at")} as "createdAt",
  case when w.former_until > now() then ${selectMilliseconds("w.former_until")} end as "formerSecretUntil",
  (select count(*)::float8 from webhook_delivery d where d.webhook_id = w.id and d.status = 'PENDING') as waiting`;

/** SQL: the application $1 of the organisation $2. */
const IS_OWN =
  "exists (select 1 from application a where a.id = $1 and a.organisation_id = $2 and a.deleted_at is null)";

/** SQL: the webhook $3 of that application. */
export const IS_OWN_WEBHOOK = `w.id = $3 and w.application_id = $1 and ${IS_OWN}`;

/** The parameters of IS_OWN_WEBHOOK; null: nothing has such ids. */
export function toWebhookValues({
  applicationId,
  organisationId,
  webhookId,
}: WebhookKey): readonly string[] | null {
  return isUuid(applicationId) && isUuid(webhookId) ? [applicationId, organisationId, webhookId] : null;
}

/** The store of webhooks in PostgreSQL. */
export function createWebhookStore(database: Database): WebhookStore {
  return {
    list: (scope, page) => listWebhooks(database, scope, page),
    find: (key) => findWebhook(database.query, key),
    create: (scope, webhook) => database.transaction((run) => insertWebhook(run, scope, webhook)),
    change: (key, change) => database.transaction((run) => changeWebhook(run, key, change)),
    rotate: (key, next, hours) => rotateSecret(database, key, { next, hours }),
    delete: (key) => deleteWebhook(database, key),
    listSealedOtherwise: (keyId, after, limit) => listSealedOtherwise(database, { keyId, after, limit }),
    reseal: (former, sealed) => reseal(database, former, sealed),
  };
}

async function listWebhooks(
  database: Database,
  { applicationId, organisationId }: WebhookScope,
  page: PageRequest,
): Promise<Page<WebhookRecord> | null> {
  if (!isUuid(applicationId)) return null;
  const [before] = decodeCursor(page.cursor, [isUuid]) ?? [null];
  const rows = await database.query<WebhookRecord | { readonly id: null }>({
    // One row of nulls: an application without webhooks.
    text: `select found.* from (select 1 where ${IS_OWN}) own left join lateral (
        select ${COLUMNS} from webhook w where w.application_id = $1 and ($3::uuid is null or w.id < $3)
        order by w.id desc limit $4
      ) found on true order by found.id desc`,
    values: [applicationId, organisationId, before, page.limit + 1],
    idempotent: true,
  });
  if (rows.length === 0) return null;
  const webhooks = rows.filter((row): row is WebhookRecord => row.id !== null);
  return cutPage(webhooks, page.limit, ({ id }) => [id]);
}

async function findWebhook(run: RunStatement, key: WebhookKey): Promise<WebhookRecord | null> {
  const values = toWebhookValues(key);
  if (values === null) return null;
  const [row] = await run<WebhookRecord>({
    text: `select ${COLUMNS} from webhook w where ${IS_OWN_WEBHOOK}`,
    values,
    idempotent: true,
  });
  return row ?? null;
}

async function insertWebhook(
  run: RunStatement,
  { applicationId, organisationId }: WebhookScope,
  { id, url, events, sealed, keyId, createdBy }: NewWebhook,
): Promise<WebhookRecord | null> {
  if (!isUuid(applicationId)) return null;
  // Its deletion waits, and deletes what is made now.
  await run({
    text: "select id from application where id = $1 and organisation_id = $2 for no key update",
    values: [applicationId, organisationId],
  });
  await requireRoom(run, "webhooks", {
    text: "from webhook where application_id = $1",
    values: [applicationId],
  });
  noteAudit({ target: [applicationId, id], changes: [{ field: "url", before: null, after: url }] });
  const rows = await run({
    text: `insert into webhook (id, application_id, url, events, secret, key_id, created_by)
      select $3, $1, $4, $5, $6, $7, $8 where ${IS_OWN} returning id`,
    values: [applicationId, organisationId, id, url, events, sealed, keyId, createdBy],
    audited: ["webhook.create"],
  });
  return rows.length === 0 ? null : findWebhook(run, { applicationId, organisationId, webhookId: id });
}

async function changeWebhook(
  run: RunStatement,
  key: WebhookKey,
  { url, events, isPaused }: WebhookChange,
): Promise<WebhookRecord | null> {
  const values = toWebhookValues(key);
  if (values === null) return null;
  const former = await findWebhook(run, key);
  if (url !== undefined && former !== null)
    noteAudit({ changes: [{ field: "url", before: former.url, after: url }] });
  await run({
    text: `update webhook w set url = coalesce($4, w.url), events = coalesce($5, w.events), is_paused = coalesce($6, w.is_paused)
      where ${IS_OWN_WEBHOOK}`,
    values: [...values, url ?? null, events ?? null, isPaused ?? null],
    audited: ["webhook.update"],
  });
  return findWebhook(run, key);
}

async function rotateSecret(
  database: Database,
  key: WebhookKey,
  { next, hours }: { readonly next: SealedWebhookSecret; readonly hours: number },
): Promise<WebhookRecord | null> {
  const values = toWebhookValues(key);
  if (values === null) return null;
  const [row] = await database.query<WebhookRecord>({
    text: `update webhook w set secret = $4, key_id = $5, former_secret = case when $6::int > 0 then w.secret end,
        former_key_id = case when $6::int > 0 then w.key_id end,
        former_until = case when $6::int > 0 then now() + make_interval(hours => $6::int) end
      where ${IS_OWN_WEBHOOK} returning ${COLUMNS}`,
    values: [...values, next.sealed, next.keyId, hours],
    audited: ["webhook.rotate"],
  });
  return row ?? null;
}

async function deleteWebhook(database: Database, key: WebhookKey): Promise<boolean> {
  const values = toWebhookValues(key);
  if (values === null) return false;
  const rows = await database.query({
    text: `delete from webhook w where ${IS_OWN_WEBHOOK} returning w.id`,
    values,
    idempotent: true,
    audited: ["webhook.delete"],
  });
  return rows.length > 0;
}

async function listSealedOtherwise(
  database: Database,
  { keyId, after, limit }: { readonly keyId: string; readonly after: string | null; readonly limit: number },
): Promise<readonly SealedOtherwise[]> {
  return await database.query<SealedOtherwise>({
    text: `select w.id, s.which, s.sealed, s.key_id as "keyId" from webhook w cross join lateral (values
        ('secret', w.secret, w.key_id), ('former_secret', w.former_secret, w.former_key_id)) as s (which, sealed, key_id)
      where s.key_id <> $1 and ($2::uuid is null or w.id > $2) order by w.id limit $3`,
    values: [keyId, after, limit],
    idempotent: true,
  });
}

async function reseal(
  database: Database,
  { id, which, sealed: former }: SealedOtherwise,
  { sealed, keyId }: SealedWebhookSecret,
): Promise<boolean> {
  const column = which === "secret" ? "key_id" : "former_key_id";
  const rows = await database.query({
    text: `update webhook set ${which} = $2, ${column} = $3 where id = $1 and ${which} = $4 returning id`,
    values: [id, sealed, keyId, former],
    idempotent: true,
  });
  return rows.length > 0;
}

/** An id for a webhook, to which its secret is bound. */
export const createWebhookId = createUuidV7;
