import { Problem } from "@platform/contract/problems";
import { createUuidV7, isUuid } from "@platform/engine/base/uuid";
import type { Database, RunStatement } from "../postgres/database.ts";
import { BOUNDS, refuseMore, requireRoom } from "./base/bounds.ts";
import { selectMilliseconds } from "./base/columns.ts";
import { cutPage, decodeCursor } from "./base/page.ts";
import type { Page, PageRequest } from "./base/page.ts";
import { refuseStale } from "./base/stale.ts";

/** Terms of subscriptions, as they are compared and stored. Prices are decimal numbers without needless zeros. */
export interface PlanTerms {
  readonly name: string;
  readonly description: string;
  /** Null: every price is zero. */
  readonly currency: string | null;
  readonly monthly: string;
  readonly perExecution: string;
  readonly perCpuSecond: string;
  readonly unit: "execution" | "cpu-second";
  /** Units of each month. */
  readonly included: number;
  /** Units of each month; null: no cap. */
  readonly perMonth: number | null;
  /** Starts; null: no limit of the plan's. */
  readonly perMinute: number | null;
  /** Executions at one time; null: no limit of the plan's. */
  readonly concurrent: number | null;
  /** Applications of one organisation that can have it in a month; null: any number. */
  readonly applications: number | null;
}

/** One revision of a plan; it never changes. */
export interface PlanRecord extends PlanTerms {
  /** Of the revision. */
  readonly rowId: string;
  /** Of the plan, unique for its service. */
  readonly id: string;
  readonly revision: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/** Terms that become the current revision of the plan `id`. */
interface NewPlan extends PlanTerms {
  readonly id: string;
  readonly replaces?: number | undefined;
}

/** Plans of services. A service of another organisation is treated as missing (null). */
export interface PlanStore {
  /** The current revisions, the newest plan first; null: there is no such service. */
  readonly list: (
    organisationId: string,
    serviceKey: string,
    page: PageRequest,
  ) => Promise<Page<PlanRecord> | null>;
  /** The current revision; null: there is no such plan. */
  readonly find: (organisationId: string, serviceKey: string, id: string) => Promise<PlanRecord | null>;
  /**
   * Makes the terms the current revision of the plan. The same terms change nothing. `replaces`: the current revision as it was read;
   * 0: there was none; absent: any.
   *
   * @throws Problem SERVICE_NOT_FOUND, QUOTA_EXCEEDED; CONFLICT when `replaces` is not the current revision
   */
  readonly put: (
    organisationId: string,
    serviceKey: string,
    plan: NewPlan,
  ) => Promise<{ readonly plan: PlanRecord; readonly isNew: boolean }>;
  /** Null: there is no such service. False: no such plan. @throws Problem CONFLICT: the last one in the marketplace */
  readonly archive: (organisationId: string, serviceKey: string, id: string) => Promise<boolean | null>;
}

/** What a plan has that costs nothing and limits nothing. */
export const NO_TERMS = {
  description: "",
  currency: null,
  monthly: "0",
  perExecution: "0",
  perCpuSecond: "0",
  unit: "execution",
  included: 0,
  perMonth: null,
  perMinute: null,
  concurrent: null,
  applications: null,
} as const satisfies Omit<PlanTerms, "name">;

/** The columns of a plan `p`, as `PlanRecord` has them. */
export const PLAN_COLUMNS = `p.id as "rowId", p.slug as id, p.revision, p.name, p.description, p.currency,
  trim_scale(p.monthly_fee)::text as monthly, trim_scale(p.per_execution)::text as "perExecution",
  trim_scale(p.per_cpu_second)::text as "perCpuSecond", p.unit, p.included_quota::float8 as included,
  p.hard_cap::float8 as "perMonth", p.starts_per_minute as "perMinute", p.max_concurrent as concurrent, p.max_applications as applications,
  ${selectMilliseconds("p.created_at")} as "createdAt"`;

/** The store of plans in PostgreSQL. */
export function createPlanStore(database: Database): PlanStore {
  return {
    list: (organisationId, serviceKey, page) => listPlans(database, organisationId, serviceKey, page),
    find: async (organisationId, serviceKey, id) => {
      if (!isUuid(serviceKey)) return null;
      const [row] = await database.query<PlanRecord>({
        text: `select ${PLAN_COLUMNS} from plan p join service s on s.key = p.service_key
          where p.service_key = $1 and s.organisation_id = $2 and p.slug = $3 and p.ended_at is null`,
        values: [serviceKey, organisationId, id],
        idempotent: true,
      });
      return row ?? null;
    },
    put: (organisationId, serviceKey, plan) =>
      database.transaction((run) => putPlan(run, organisationId, serviceKey, plan)),
    archive: (organisationId, serviceKey, id) =>
      database.transaction((run) => archivePlan(run, organisationId, serviceKey, id)),
  };
}

/** Whether the plan costs nothing, however much it is used. */
export function isFree({ monthly, perExecution, perCpuSecond }: PlanTerms): boolean {
  return monthly === "0" && perExecution === "0" && perCpuSecond === "0";
}

async function listPlans(
  database: Database,
  organisationId: string,
  serviceKey: string,
  page: PageRequest,
): Promise<Page<PlanRecord> | null> {
  const [before] = decodeCursor(page.cursor, [isUuid]) ?? [null];
  if (!isUuid(serviceKey)) return null;
  const rows = await database.query<PlanRecord & { readonly serviceKey: string }>({
    // One row without a plan for a service that has none: what is no service has no row at all.
    text: `select ${PLAN_COLUMNS} from service s
      left join plan p on p.service_key = s.key and p.ended_at is null and ($3::uuid is null or p.id < $3)
      where s.key = $1 and s.organisation_id = $2 order by p.id desc limit $4`,
    values: [serviceKey, organisationId, before, page.limit + 1],
    idempotent: true,
  });
  if (rows.length === 0) return null;
  return cutPage(
    rows.filter(({ rowId }) => rowId !== null),
    page.limit,
    (row) => [row.rowId],
  );
}

/**
 * Locks the service until the end of the transaction: its plans and its publication change one after the other, so that a
 * service in the marketplace has a plan.
 */
export async function lockService(
  run: RunStatement,
  organisationId: string,
  serviceKey: string,
): Promise<{ readonly publication: string | null } | null> {
  if (!isUuid(serviceKey)) return null;
  const [row] = await run<{ readonly publication: string | null }>({
    text: "select s.publication from service s where s.key = $1 and s.organisation_id = $2 for no key update",
    values: [serviceKey, organisationId],
  });
  return row ?? null;
}

/** The current revisions of a service's plans, the newest plan first. */
export async function readCurrent(run: RunStatement, serviceKey: string): Promise<readonly PlanRecord[]> {
  return await run<PlanRecord>({
    text: `select ${PLAN_COLUMNS} from plan p where p.service_key = $1 and p.ended_at is null order by p.id desc`,
    values: [serviceKey],
  });
}

async function putPlan(
  run: RunStatement,
  organisationId: string,
  serviceKey: string,
  { id, replaces, ...terms }: NewPlan,
): Promise<{ readonly plan: PlanRecord; readonly isNew: boolean }> {
  if (!(await lockService(run, organisationId, serviceKey))) throw new Problem("SERVICE_NOT_FOUND");
  const plans = await readCurrent(run, serviceKey);
  const current = plans.find((plan) => plan.id === id);
  if (current && hasTerms(current, terms)) return { plan: current, isNew: false };
  const newest = current?.revision ?? 0;
  if (replaces !== undefined && replaces !== newest) throw refuseOther(newest, replaces);
  if (!current && plans.length >= BOUNDS.plans.limit) throw refuseMore("plans");
  const values = [serviceKey];
  await requireRoom(run, "planRevisions", { text: "from plan where service_key = $1", values });
  await endPlan(run, serviceKey, id);
  return { plan: await insertPlan(run, serviceKey, id, terms), isNew: current === undefined };
}

/** 0: there is no such plan. */
function refuseOther(newest: number, replaces: number): Problem {
  if (replaces === 0)
    return new Problem(
      "CONFLICT",
      "The service has such a plan already. Change that one, or choose another name.",
    );
  if (newest === 0)
    return new Problem(
      "CONFLICT",
      "The plan was withdrawn since you read it. With revision 0 it is created anew.",
    );
  return refuseStale("plan", newest, replaces);
}

function hasTerms(plan: PlanRecord, terms: PlanTerms): boolean {
  const { rowId: _row, id: _id, revision: _revision, createdAt: _createdAt, ...held } = plan;
  const known = new Map<string, unknown>(Object.entries(held));
  return Object.entries(terms).every(([name, value]) => known.get(name) === value);
}

async function endPlan(run: RunStatement, serviceKey: string, id: string): Promise<boolean> {
  const rows = await run({
    text: "update plan set ended_at = now() where service_key = $1 and slug = $2 and ended_at is null returning id",
    values: [serviceKey, id],
    audited: ["plan.archive"],
  });
  return rows.length > 0;
}

/** Makes the terms the next revision of the plan. */
export async function insertPlan(
  run: RunStatement,
  serviceKey: string,
  id: string,
  terms: PlanTerms,
): Promise<PlanRecord> {
  const [row] = await run<PlanRecord>({
    text: `insert into plan as p (id, service_key, slug, revision, name, description, currency, monthly_fee, per_execution,
        per_cpu_second, unit, included_quota, hard_cap, starts_per_minute, max_concurrent, max_applications)
      values ($1, $2, $3, 1 + coalesce((select max(o.revision) from plan o where o.service_key = $2 and o.slug = $3), 0),
        $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
      returning ${PLAN_COLUMNS}`,
    values: [
      createUuidV7(),
      serviceKey,
      id,
      terms.name,
      terms.description,
      terms.currency,
      terms.monthly,
      terms.perExecution,
      terms.perCpuSecond,
      terms.unit,
      terms.included,
      terms.perMonth,
      terms.perMinute,
      terms.concurrent,
      terms.applications,
    ],
    audited: ["plan.put"],
  });
  if (row === undefined) throw new Error("The insert returned no row.");
  return row;
}

async function archivePlan(
  run: RunStatement,
  organisationId: string,
  serviceKey: string,
  id: string,
): Promise<boolean | null> {
  const service = await lockService(run, organisationId, serviceKey);
  if (service === null) return null;
  const plans = await readCurrent(run, serviceKey);
  if (!plans.some((plan) => plan.id === id)) return false;
  if (service.publication === "marketplace" && plans.length === 1) {
    throw new Problem(
      "CONFLICT",
      "It is the only plan of a service in the marketplace. Create another plan first, or unpublish the service.",
    );
  }
  return await endPlan(run, serviceKey, id);
}
