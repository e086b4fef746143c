import { isUuid } from "@platform/engine/base/uuid";
import type { Database, RunStatement } from "../postgres/database.ts";
import { BOUNDS, refuseMore } from "./base/bounds.ts";
import { VARIABLES_CHANNEL } from "./base/channels.ts";
import { selectMilliseconds } from "./base/columns.ts";

/** Whose variable it is: a service's, or (null) the organisation's, for all of its services. */
export interface VariableScope {
  readonly organisationId: string;
  readonly serviceKey: string | null;
}

/** A secret is a variable whose value is sealed and shown to nobody. */
export type VariableKind = "secret" | "variable";

/** A variable; the value of a secret is null. */
export interface VariableRecord {
  readonly name: string;
  readonly value: string | null;
  /** How often a variable of this name was set or deleted. */
  readonly revision: number;
  /** Milliseconds since the epoch. */
  readonly changedAt: number;
  /** Name of the user. */
  readonly changedBy: string;
}

/** A value as it is stored: of a secret sealed by the caller, who names the key. */
export type StoredValue =
  | { readonly kind: "secret"; readonly sealed: string; readonly keyId: string }
  | { readonly kind: "variable"; readonly value: string };

type SealedValue = Extract<StoredValue, { kind: "secret" }>;

/** A stored value, by the user `by`. */
type NewVariable = StoredValue & { readonly by: string };

/** A stored value with what a sealed one is bound to. */
export type StoredVariable = VariableScope & { readonly name: string } & StoredValue;

/** A secret as it is stored. */
export type SealedSecret = VariableScope & { readonly name: string } & SealedValue;

/** Variables, secrets among them; a service of another organisation has none (null). */
export interface VariableStore {
  /** Those of one kind, by name. */
  readonly list: (
    scope: VariableScope,
    kind: VariableKind,
    page: { readonly limit: number; readonly offset: number },
  ) => Promise<readonly VariableRecord[] | null>;
  /**
   * Refused where the scope has this name with the other kind: a value must not become readable by a mistake.
   *
   * @throws Problem QUOTA_EXCEEDED
   */
  readonly put: (
    scope: VariableScope,
    name: string,
    variable: NewVariable,
  ) => Promise<VariableRecord | "other kind" | null>;
  /** `by`: id of the user. False: there is none of this name and kind. */
  readonly delete: (
    scope: VariableScope,
    variable: { readonly kind: VariableKind; readonly name: string; readonly by: string },
  ) => Promise<boolean | null>;
  /** Of the service of a version and of its organisation, for who runs it, so of any organisation. */
  readonly readOfVersion: (versionId: string) => Promise<readonly StoredVariable[]>;
  /** The same for a service that is being built. */
  readonly readOfService: (serviceKey: string) => Promise<readonly StoredVariable[]>;
  /** Secrets of all organisations that are sealed with another key than this one: a page, behind `after`. */
  readonly listSealedOtherwise: (
    keyId: string,
    page: { readonly after: SealedSecret | null; readonly limit: number },
  ) => Promise<readonly SealedSecret[]>;
  /** Replaces a sealed value by the same one sealed anew, which is no new revision. False: it was set or deleted meanwhile. */
  readonly reseal: (former: SealedSecret, sealed: Omit<SealedValue, "kind">) => Promise<boolean>;
  /** Calls back when variables may have changed. Returns a function that stops it. */
  readonly subscribe: (listener: () => void) => () => void;
}

const COLUMNS = `s.name, s.value, s.revision, ${selectMilliseconds("s.changed_at")} as "changedAt",
  (select u.name from platform_user u where u.id = s.changed_by) as "changedBy"`;

const STORED = `x.organisation_id as "organisationId", nullif(x.scope_id, x.organisation_id) as "serviceKey", x.name,
  case when x.sealed is null then 'variable' else 'secret' end as kind, x.value, x.sealed, x.key_id as "keyId"`;

const IS_SET = "num_nonnulls(x.sealed, x.value) > 0";

/** The column that a variable of this kind has, and one of the other kind not. */
const COLUMN_OF = { secret: "sealed", variable: "value" } as const;

/** The variables in PostgreSQL. */
export function createVariableStore(database: Database): VariableStore {
  return {
    list: async (scope, kind, { limit, offset }) => {
      if (!(await isOwn(database.query, scope))) return null;
      return await database.query<VariableRecord>({
        text: `select ${COLUMNS} from variable s
          where s.scope_id = $1 and s.organisation_id = $2 and s.${COLUMN_OF[kind]} is not null
          order by s.name limit $3 offset $4`,
        values: [toScopeId(scope), scope.organisationId, limit, offset],
        idempotent: true,
      });
    },
    put: (scope, name, variable) =>
      database.transaction((run) => putVariable(run, scope, { ...variable, name })),
    delete: async (scope, { kind, name, by }) => {
      if (!(await isOwn(database.query, scope))) return null;
      const rows = await database.query({
        text: `with gone as (
            update variable set sealed = null, value = null, key_id = null, revision = revision + 1,
              changed_at = now(), changed_by = $4
            where scope_id = $1 and organisation_id = $2 and name = $3 and ${COLUMN_OF[kind]} is not null
            returning name
          ) select name from gone cross join lateral pg_notify('${VARIABLES_CHANNEL}', '')`,
        values: [toScopeId(scope), scope.organisationId, name, by],
        audited: [`${kind}.delete`, `organization-${kind}.delete`],
      });
      return rows.length > 0;
    },
    readOfVersion: (versionId) =>
      database.query<StoredVariable>({
        name: "variables-of-version",
        text: `select ${STORED} from version v join service s on s.key = v.service_key
          join variable x on x.organisation_id = s.organisation_id and x.scope_id in (s.key, s.organisation_id)
          where v.id = $1 and ${IS_SET} order by x.name`,
        values: [versionId],
        idempotent: true,
      }),
    readOfService: (serviceKey) =>
      database.query<StoredVariable>({
        text: `select ${STORED} from service s
          join variable x on x.organisation_id = s.organisation_id and x.scope_id in (s.key, s.organisation_id)
          where s.key = $1 and ${IS_SET} order by x.name`,
        values: [serviceKey],
        idempotent: true,
      }),
    listSealedOtherwise: (keyId, page) => listSealedOtherwise(database, keyId, page),
    reseal: (former, anew) => reseal(database, former, anew),
    subscribe: (listener) => database.listen(VARIABLES_CHANNEL, { onNotify: listener, onReset: listener }),
  };
}

function listSealedOtherwise(
  database: Database,
  keyId: string,
  { after, limit }: { readonly after: SealedSecret | null; readonly limit: number },
): Promise<readonly SealedSecret[]> {
  return database.query<SealedSecret>({
    text: `select ${STORED} from variable x where x.sealed is not null and x.key_id <> $1
      and ($2::uuid is null or (x.scope_id, x.name) > ($2, $3)) order by x.scope_id, x.name limit $4`,
    values: [keyId, after === null ? null : toScopeId(after), after?.name ?? "", limit],
    idempotent: true,
  });
}

async function reseal(
  database: Database,
  former: SealedSecret,
  { sealed, keyId }: Omit<SealedValue, "kind">,
): Promise<boolean> {
  const rows = await database.query({
    text: `update variable set sealed = $4, key_id = $5
      where scope_id = $1 and name = $2 and sealed = $3 returning name`,
    values: [toScopeId(former), former.name, former.sealed, sealed, keyId],
  });
  return rows.length > 0;
}

function toScopeId({ organisationId, serviceKey }: VariableScope): string {
  return serviceKey ?? organisationId;
}

/** `lock` locks the scope: two that set the last free variable, or one name with two kinds, count one after the other. */
async function isOwn(run: RunStatement, scope: VariableScope, lock = ""): Promise<boolean> {
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

async function putVariable(
  run: RunStatement,
  scope: VariableScope,
  variable: NewVariable & { readonly name: string },
): Promise<VariableRecord | "other kind" | null> {
  // In the order of those who delete an organisation: the new row refers to it, too.
  const organisation = { ...scope, serviceKey: null };
  if (scope.serviceKey !== null && !(await isOwn(run, organisation, "for key share"))) return null;
  if (!(await isOwn(run, scope, "for no key update"))) return null;
  const { kind, name, by } = variable;
  const scopeId = toScopeId(scope);
  const [found] = await run<{ others: number; isOther: boolean }>({
    text: `select count(*) filter (where x.name <> $2)::int as others,
        coalesce(bool_or(x.name = $2 and x.${COLUMN_OF[kind]} is null), false) as "isOther"
      from variable x where x.scope_id = $1 and ${IS_SET}`,
    values: [scopeId, name],
  });
  if (found?.isOther === true) return "other kind";
  if ((found?.others ?? 0) >= BOUNDS.variables.limit) throw refuseMore("variables");
  const stored =
    variable.kind === "secret" ? [variable.sealed, variable.keyId, null] : [null, null, variable.value];
  const [row] = await run<VariableRecord>({
    text: `insert into variable as s (organisation_id, scope_id, name, revision, changed_by, sealed, key_id, value)
      values ($1, $2, $3, 1, $4, $5, $6, $7)
      on conflict (scope_id, name) do update set revision = s.revision + 1, sealed = excluded.sealed, key_id = excluded.key_id,
        value = excluded.value, changed_at = now(), changed_by = excluded.changed_by
      returning ${COLUMNS}`,
    values: [scope.organisationId, scopeId, name, by, ...stored],
    audited: [`${kind}.put`, `organization-${kind}.put`],
  });
  await run({ text: "select pg_notify($1, '')", values: [VARIABLES_CHANNEL] });
  return row ?? null;
}
