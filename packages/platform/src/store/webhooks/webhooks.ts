import type { WebhookEvent } from "@platform/contract/platform-api/webhooks";
import { Problem } from "@platform/contract/problems";
import { createUuidV7, isUuid } from "@platform/engine/base/uuid";
import type { Owner } from "@platform/engine/store/owner";
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
  /** Null: the URLs that starts name. */
  readonly url: string | null;
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
  /** `jobs`: jobs of the organisation. */
  readonly applicationId: string;
}

/** What stands for an application where jobs of the organisation are meant. */
const JOBS = "jobs";

/** A subscription or an organisation. */
type StartOwner = Pick<Owner, "kind" | "id" | "organisationId">;

/** Names a webhook. */
export interface WebhookKey extends WebhookScope {
  readonly webhookId: string;
}

interface NewWebhook extends Pick<WebhookRecord, "url" | "events">, SealedWebhookSecret {
  readonly id: string;
  /** Id of the user. */
  readonly createdBy: string;
}

/** What a webhook is told where nobody has said otherwise. */
export const FINAL_EVENTS: readonly WebhookEvent[] = [
  "execution.succeeded",
  "execution.failed",
  "execution.unknown",
];

/** What is left out stays. */
export type WebhookChange = Partial<Pick<WebhookRecord, "events" | "isPaused">> & { readonly url?: string };

/** Webhooks of applications. Null: the organisation has no such application, or it has no such webhook. */
export interface WebhookStore {
  /** Newest first. */
  readonly list: (scope: WebhookScope, page: PageRequest) => Promise<Page<WebhookRecord> | null>;
  readonly find: (key: WebhookKey) => Promise<WebhookRecord | null>;
  /** @throws Problem QUOTA_EXCEEDED */
  readonly create: (scope: WebhookScope, webhook: NewWebhook) => Promise<WebhookRecord | null>;
  /** That of the starts of an owner, as this one if there is none. False: the owner has ended. */
  readonly ensureOfStarts: (
    owner: StartOwner,
    create: () => SealedWebhookSecret & { readonly id: string },
  ) => Promise<boolean>;
  /** @throws Problem CONFLICT for a URL of that of starts */
  readonly change: (key: WebhookKey, change: WebhookChange) => Promise<WebhookRecord | null>;
  /** The former secret ends after so many hours; one that is still there ends now. */
  readonly rotate: (
    key: WebhookKey,
    next: SealedWebhookSecret,
    hours: number,
  ) => Promise<WebhookRecord | null>;
  /** With its messages, which are removed later. False: there was none. @throws Problem CONFLICT for that of starts */
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

/** SQL: the application $1 of the organisation $2, or where $1 is null the organisation. */
const IS_OWN = `(select case when $1::uuid is null then exists (select 1 from organisation o where o.id = $2::uuid and o.deleted_at is null)
    else exists (select 1 from application a where a.id = $1::uuid and a.organisation_id = $2::uuid and a.deleted_at is null) end)`;

/** SQL: webhooks of that application or organisation; by one index or the other. */
const IS_OF_SCOPE = `(w.application_id = $1::uuid or ($1::uuid is null and w.application_id is null and w.organisation_id = $2::uuid))`;

/** SQL: the webhook $3 of that application or organisation. */
export const IS_OWN_WEBHOOK = `w.id = $3::uuid and ${IS_OF_SCOPE} and ${IS_OWN}`;

/** The parameters of IS_OWN_WEBHOOK; null: nothing has such ids. */
export function toWebhookValues({ webhookId, ...scope }: WebhookKey): readonly (string | null)[] | null {
  const values = toScopeValues(scope);
  return values !== null && isUuid(webhookId) ? [...values, webhookId] : null;
}

/** Null: nothing has such an id. */
function toScopeValues({ applicationId, organisationId }: WebhookScope): readonly (string | null)[] | null {
  if (applicationId === JOBS) return [null, organisationId];
  return isUuid(applicationId) ? [applicationId, organisationId] : null;
}

/** The store of webhooks in PostgreSQL. */
export function createWebhookStore(database: Database): WebhookStore {
  return {
    list: (scope, page) => listWebhooks(database, scope, page),
    find: (key) => findWebhook(database.query, key),
    create: (scope, webhook) => database.transaction((run) => insertWebhook(run, scope, webhook)),
    ensureOfStarts: async (owner, create) =>
      (await hasWebhookOfStarts(database.query, owner)) ||
      (await database.transaction((run) => insertOfStarts(run, owner, create()))),
    change: (key, change) => database.transaction((run) => changeWebhook(run, key, change)),
    rotate: (key, next, hours) => rotateSecret(database, key, { next, hours }),
    delete: (key) => deleteWebhook(database, key),
    listSealedOtherwise: (keyId, after, limit) => listSealedOtherwise(database, { keyId, after, limit }),
    reseal: (former, sealed) => reseal(database, former, sealed),
  };
}

async function listWebhooks(
  database: Database,
  scope: WebhookScope,
  page: PageRequest,
): Promise<Page<WebhookRecord> | null> {
  const values = toScopeValues(scope);
  if (values === null) return null;
  const [before] = decodeCursor(page.cursor, [isUuid]) ?? [null];
  const rows = await database.query<WebhookRecord | { readonly id: null }>({
    // One row of nulls: an application without webhooks.
    text: `select found.* from (select 1 where ${IS_OWN}) own left join lateral (
        select ${COLUMNS} from webhook w where ${IS_OF_SCOPE} and ($3::uuid is null or w.id < $3)
        order by w.id desc limit $4
      ) found on true order by found.id desc`,
    values: [...values, before, page.limit + 1],
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
  scope: WebhookScope,
  { id, url, events, sealed, keyId, createdBy }: NewWebhook,
): Promise<WebhookRecord | null> {
  const values = toScopeValues(scope);
  if (values === null) return null;
  await lockScope(run, values);
  // That of starts is not counted: it may be made at any time.
  await requireRoom(run, "webhooks", {
    text: `from webhook w where ${IS_OF_SCOPE} and w.url is not null and $3::text is not null`,
    values: [...values, url],
  });
  noteAudit({ target: [scope.applicationId, id], changes: [{ field: "url", before: null, after: url }] });
  const rows = await run({
    text: `insert into webhook (id, application_id, organisation_id, url, events, secret, key_id, created_by)
      select $3, $1, $2, $4, $5, $6, $7, $8 where ${IS_OWN} on conflict do nothing returning id`,
    values: [...values, id, url, events, sealed, keyId, createdBy],
    audited: ["webhook.create"],
  });
  if (rows.length > 0) return findWebhook(run, { ...scope, webhookId: id });
  if (url === null && (await hasOwnOfStarts(run, values))) throw refuseSecondOfStarts();
  return null;
}

/** Deletion waits, and deletes what is made now. */
async function lockScope(run: RunStatement, values: readonly (string | null)[]): Promise<void> {
  const [applicationId] = values;
  await run({
    text:
      applicationId === null
        ? "select id from organisation where $1::uuid is null and id = $2 for no key update"
        : "select id from application where id = $1 and organisation_id = $2 for no key update",
    values,
  });
}

async function hasOwnOfStarts(run: RunStatement, values: readonly (string | null)[]): Promise<boolean> {
  const rows = await run({
    text: `select 1 from webhook w where ${IS_OF_SCOPE} and w.url is null and ${IS_OWN}`,
    values,
  });
  return rows.length > 0;
}

function refuseSecondOfStarts(): Problem {
  return new Problem(
    "CONFLICT",
    "There is a webhook of starts already; give it a new secret if the present one is not known.",
  );
}

/** SQL: the application of the subscription $1, or null for jobs. */
const APPLICATION_OF_OWNER = "(select b.application_id from subscription b where b.id = $1::uuid)";

async function hasWebhookOfStarts(run: RunStatement, { kind, id }: StartOwner): Promise<boolean> {
  const rows = await run({
    text: `select 1 from webhook w where w.url is null and coalesce(w.application_id, w.organisation_id) =
        ${kind === "subscription" ? APPLICATION_OF_OWNER : "$1::uuid"}`,
    values: [id],
    idempotent: true,
  });
  return rows.length > 0;
}

async function insertOfStarts(
  run: RunStatement,
  { kind, id: ownerId, organisationId }: StartOwner,
  { id, sealed, keyId }: SealedWebhookSecret & { readonly id: string },
): Promise<boolean> {
  const [subscription] =
    kind === "organisation"
      ? [{ applicationId: null }]
      : await run<{ applicationId: string }>({
          text: 'select application_id as "applicationId" from subscription where id = $1',
          values: [ownerId],
        });
  if (subscription === undefined) return false;
  const values = [subscription.applicationId, organisationId];
  await lockScope(run, values);
  await run({
    text: `insert into webhook (id, application_id, organisation_id, events, secret, key_id)
      select $3, $1, $2, $4, $5, $6 where ${IS_OWN} on conflict do nothing`,
    values: [...values, id, FINAL_EVENTS, sealed, keyId],
  });
  return await hasOwnOfStarts(run, values);
}

async function changeWebhook(
  run: RunStatement,
  key: WebhookKey,
  { url, events, isPaused }: WebhookChange,
): Promise<WebhookRecord | null> {
  const values = toWebhookValues(key);
  if (values === null) return null;
  const former = await findWebhook(run, key);
  if (url !== undefined && former?.url === null)
    throw new Problem("CONFLICT", "The webhook of starts has no URL; each start names its own.");
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
    // That of starts is needed by executions that are under way.
    text: `delete from webhook w where ${IS_OWN_WEBHOOK} and w.url is not null returning w.id`,
    values,
    idempotent: true,
    audited: ["webhook.delete"],
  });
  if (rows.length === 0 && (await findWebhook(database.query, key)) !== null)
    throw new Problem("CONFLICT", "The webhook of starts cannot be deleted; pause it to send nothing.");
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
