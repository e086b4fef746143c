import { KEPT_REVISIONS } from "@platform/contract/platform-api/policies";
import type { ServicePolicy } from "@platform/contract/policy";
import { isRecord } from "@platform/engine/base/json";
import { isUuid } from "@platform/engine/base/uuid";
import type { Database, RunStatement } from "../postgres/database.ts";
import { noteAudit, noteUnchanged } from "./audit/trail.ts";
import type { AuditChange } from "./audit/trail.ts";
import { ACCESS_CHANNEL, EXECUTIONS_CHANNEL } from "./base/channels.ts";
import { selectMilliseconds } from "./base/columns.ts";
import { cutPage, decodeCursor } from "./base/page.ts";
import type { Page, PageRequest } from "./base/page.ts";
import { refuseStale } from "./base/stale.ts";
import { lockService } from "./plans.ts";

/** A revision of the policy of a service; it never changes. */
export interface PolicyRecord {
  /** 0: none was ever set. */
  readonly revision: number;
  readonly policy: ServicePolicy;
  /** Milliseconds since the epoch; null: never. */
  readonly createdAt: number | null;
  /** Name of the user; null: nobody. */
  readonly createdBy: string | null;
}

/** A policy that takes the place of the revision `replaces`. */
interface NewPolicy {
  readonly replaces: number;
  readonly policy: ServicePolicy;
  /** Id of the user. */
  readonly by: string;
}

/** Policies of services. A service of another organisation is treated as missing (null). */
export interface PolicyStore {
  /** The newest revision. */
  readonly find: (organisationId: string, serviceKey: string) => Promise<PolicyRecord | null>;
  /**
   * Makes the policy the newest revision; the same one changes nothing. Gateways follow at once.
   *
   * @throws Problem CONFLICT when `replaces` is not the newest revision
   */
  readonly put: (
    organisationId: string,
    serviceKey: string,
    policy: NewPolicy,
  ) => Promise<PolicyRecord | null>;
  /** Newest first. */
  readonly list: (
    organisationId: string,
    serviceKey: string,
    page: PageRequest,
  ) => Promise<Page<PolicyRecord> | null>;
}

/** What a service has that never set one. */
const NONE: PolicyRecord = { revision: 0, policy: {}, createdAt: null, createdBy: null };

const COLUMNS = `p.revision, p.policy, ${selectMilliseconds("p.created_at")} as "createdAt",
  (select u.name from platform_user u where u.id = p.created_by) as "createdBy"`;

/** The store of policies in PostgreSQL. */
export function createPolicyStore(database: Database): PolicyStore {
  return {
    find: async (organisationId, serviceKey) => {
      const page = await listRevisions(database.query, organisationId, serviceKey, { limit: 1 });
      return page && (page.items[0] ?? NONE);
    },
    put: (organisationId, serviceKey, policy) =>
      database.transaction((run) => putPolicy(run, organisationId, serviceKey, policy)),
    list: (organisationId, serviceKey, page) =>
      listRevisions(database.query, organisationId, serviceKey, page),
  };
}

const isRevision = (text: string) => /^[1-9][0-9]{0,8}$/u.test(text);

async function listRevisions(
  run: RunStatement,
  organisationId: string,
  serviceKey: string,
  page: PageRequest,
): Promise<Page<PolicyRecord> | null> {
  const [before] = decodeCursor(page.cursor, [isRevision]) ?? [null];
  if (!isUuid(serviceKey)) return null;
  const rows = await run<PolicyRecord>({
    // One row without a revision for a service that has none: what is no service has no row at all.
    text: `select ${COLUMNS} from service s
      left join service_policy p on p.service_key = s.key and ($3::int is null or p.revision < $3)
      where s.key = $1 and s.organisation_id = $2 order by p.revision desc limit $4`,
    values: [serviceKey, organisationId, before, page.limit + 1],
    idempotent: true,
  });
  if (rows.length === 0) return null;
  return cutPage(
    rows.filter(({ revision }) => revision !== null),
    page.limit,
    ({ revision }) => [String(revision)],
  );
}

async function putPolicy(
  run: RunStatement,
  organisationId: string,
  serviceKey: string,
  { replaces, policy, by }: NewPolicy,
): Promise<PolicyRecord | null> {
  if (!(await lockService(run, organisationId, serviceKey))) return null;
  const page = await listRevisions(run, organisationId, serviceKey, { limit: 1 });
  const newest = page?.items[0] ?? NONE;
  const changes = listChanges(newest.policy, policy);
  // Also what an earlier try has set whose answer was lost.
  if (changes.length === 0 && newest.revision - replaces <= 1) {
    noteUnchanged();
    return newest;
  }
  if (newest.revision !== replaces) throw refuseStale("policy", newest.revision, replaces);
  noteAudit({ changes });
  const [row] = await run<PolicyRecord>({
    text: `with p as (
        insert into service_policy (service_key, revision, policy, created_by) values ($1, $2, $3, $4) returning *
      ) select ${COLUMNS} from p cross join lateral pg_notify('${ACCESS_CHANNEL}', 'service:' || p.service_key)
        cross join lateral pg_notify('${EXECUTIONS_CHANNEL}', 'policy:held') as released`,
    values: [serviceKey, replaces + 1, JSON.stringify(policy), by],
    audited: ["policy.put"],
  });
  await run({
    text: "delete from service_policy where service_key = $1 and revision <= $2",
    values: [serviceKey, replaces + 1 - KEPT_REVISIONS],
  });
  return row ?? null;
}

/** Fields that differ, of one level. */
function listChanges(before: ServicePolicy, after: ServicePolicy): readonly AuditChange[] {
  const [held, wanted] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  const fields = [...new Set([...held.keys(), ...wanted.keys()])].toSorted();
  return fields.flatMap((field) => {
    const [from, to] = [show(held.get(field)), show(wanted.get(field))];
    return from === to ? [] : [{ field, before: from, after: to }];
  });
}

/** With its keys in order: jsonb keeps none. */
function show(value: unknown): string | null {
  if (value === undefined) return null;
  if (typeof value === "string") return value;
  return JSON.stringify(value, sortKeys);
}

function sortKeys(_key: string, part: unknown): unknown {
  if (!isRecord(part)) return part;
  return Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
