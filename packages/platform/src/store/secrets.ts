import { isUuid } from "@platform/engine/base/uuid";
import type { Database, RunStatement } from "../postgres/database.ts";
import { SECRETS_CHANNEL } from "./base/channels.ts";
import { selectMilliseconds } from "./base/columns.ts";

/** Whose secret it is: a service's, or (null) the organisation's, for all of its services. */
export interface SecretScope {
  readonly organisationId: string;
  readonly serviceKey: string | null;
}

/** A secret without its value. */
export interface SecretRecord {
  readonly name: string;
  /** How often it was set or deleted. */
  readonly revision: number;
  /** Milliseconds since the epoch. */
  readonly changedAt: number;
  /** Name of the user. */
  readonly changedBy: string;
}

/** A value that the caller has sealed, and with which key. */
interface SealedValue {
  readonly sealed: string;
  readonly keyId: string;
  /** Id of the user. */
  readonly changedBy: string;
}

/** A sealed value with what it is bound to. */
export interface SealedSecret extends SecretScope {
  readonly name: string;
  readonly sealed: string;
  readonly keyId: string;
}

/** Secrets; a service of another organisation has none (null). */
export interface SecretStore {
  /** By name. */
  readonly list: (
    scope: SecretScope,
    page: { readonly limit: number; readonly offset: number },
  ) => Promise<readonly SecretRecord[] | null>;
  /** `limit`: so many can be set in one scope. */
  readonly put: (
    scope: SecretScope,
    name: string,
    value: SealedValue & { readonly limit: number },
  ) => Promise<SecretRecord | "too many" | null>;
  /** False: there is no such secret. */
  readonly delete: (scope: SecretScope, name: string, by: string) => Promise<boolean | null>;
  /** Of the service of a version and of its organisation, for who runs it, so of any organisation. */
  readonly readOfVersion: (versionId: string) => Promise<readonly SealedSecret[]>;
  /** The same for a service that is being built. */
  readonly readOfService: (serviceKey: string) => Promise<readonly SealedSecret[]>;
  /** Calls back when secrets may have changed. Returns a function that stops it. */
  readonly subscribe: (listener: () => void) => () => void;
}

const COLUMNS = `s.name, s.revision, ${selectMilliseconds("s.changed_at")} as "changedAt",
  (select u.name from platform_user u where u.id = s.changed_by) as "changedBy"`;

const SEALED = `x.organisation_id as "organisationId", nullif(x.scope_id, x.organisation_id) as "serviceKey", x.name, x.sealed,
  x.key_id as "keyId"`;

/** The secrets in PostgreSQL. */
export function createSecretStore(database: Database): SecretStore {
  return {
    list: async (scope, { limit, offset }) => {
      if (!(await isOwn(database.query, scope))) return null;
      return await database.query<SecretRecord>({
        text: `select ${COLUMNS} from secret s where s.scope_id = $1 and s.organisation_id = $2 and s.sealed is not null
          order by s.name limit $3 offset $4`,
        values: [toScopeId(scope), scope.organisationId, limit, offset],
        idempotent: true,
      });
    },
    put: (scope, name, value) => database.transaction((run) => putSecret(run, scope, name, value)),
    delete: async (scope, name, by) => {
      if (!(await isOwn(database.query, scope))) return null;
      const rows = await database.query({
        text: `with gone as (
            update secret set sealed = null, revision = revision + 1, changed_at = now(), changed_by = $4
            where scope_id = $1 and organisation_id = $2 and name = $3 and sealed is not null returning name
          ) select name from gone cross join lateral pg_notify('${SECRETS_CHANNEL}', '')`,
        values: [toScopeId(scope), scope.organisationId, name, by],
        audited: ["secret.delete", "organization-secret.delete"],
      });
      return rows.length > 0;
    },
    readOfVersion: (versionId) =>
      database.query<SealedSecret>({
        name: "secrets-of-version",
        text: `select ${SEALED} from version v join service s on s.key = v.service_key
          join secret x on x.organisation_id = s.organisation_id and x.scope_id in (s.key, s.organisation_id)
          where v.id = $1 and x.sealed is not null order by x.name`,
        values: [versionId],
        idempotent: true,
      }),
    readOfService: (serviceKey) =>
      database.query<SealedSecret>({
        text: `select ${SEALED} from service s
          join secret x on x.organisation_id = s.organisation_id and x.scope_id in (s.key, s.organisation_id)
          where s.key = $1 and x.sealed is not null order by x.name`,
        values: [serviceKey],
        idempotent: true,
      }),
    subscribe: (listener) => database.listen(SECRETS_CHANNEL, { onNotify: listener, onReset: listener }),
  };
}

function toScopeId({ organisationId, serviceKey }: SecretScope): string {
  return serviceKey ?? organisationId;
}

/** Locks the scope: two that set the last free secret count one after the other. */
async function isOwn(run: RunStatement, scope: SecretScope, lock = ""): Promise<boolean> {
  const { organisationId, serviceKey } = scope;
  if (serviceKey !== null && !isUuid(serviceKey)) return false;
  const rows = await run({
    text:
      serviceKey === null
        ? `select id from organisation where id = $1 and deleted_at is null ${lock}`
        : `select key from service where organisation_id = $1 and key = $2 ${lock}`,
    values: serviceKey === null ? [organisationId] : [organisationId, serviceKey],
  });
  return rows.length > 0;
}

async function putSecret(
  run: RunStatement,
  scope: SecretScope,
  name: string,
  { sealed, keyId, changedBy, limit }: SealedValue & { readonly limit: number },
): Promise<SecretRecord | "too many" | null> {
  if (!(await isOwn(run, scope, "for no key update"))) return null;
  const scopeId = toScopeId(scope);
  const [counted] = await run<{ others: number }>({
    text: "select count(*)::int as others from secret where scope_id = $1 and name <> $2 and sealed is not null",
    values: [scopeId, name],
  });
  if ((counted?.others ?? 0) >= limit) return "too many";
  const [row] = await run<SecretRecord>({
    text: `insert into secret as s (organisation_id, scope_id, name, revision, sealed, key_id, changed_by)
      values ($1, $2, $3, 1, $4, $5, $6)
      on conflict (scope_id, name) do update set revision = s.revision + 1, sealed = excluded.sealed, key_id = excluded.key_id,
        changed_at = now(), changed_by = excluded.changed_by
      returning ${COLUMNS}`,
    values: [scope.organisationId, scopeId, name, sealed, keyId, changedBy],
    audited: ["secret.put", "organization-secret.put"],
  });
  await run({ text: "select pg_notify($1, '')", values: [SECRETS_CHANNEL] });
  return row ?? null;
}
