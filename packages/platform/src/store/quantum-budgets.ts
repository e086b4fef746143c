import type { Database } from "../postgres/database.ts";
import { THIS_MONTH } from "./base/quotas.ts";
import { lookUp } from "./executions/lookup.ts";
import { COST_OF_ENDED } from "./quantum-costs.ts";

/*
 * A start holds what its job may cost at most: one update of the row of the budget, whose condition PostgreSQL checks again when it has waited for another,
 * so that jobs that are started at the same time never hold more than there is. Starts of jobs without a price, and of organisations without a budget,
 * change nothing here, and the end of a job neither: what it has cost takes the place of what it held when somebody asks for the budget, a start finds
 * too little left, or the minute is over. A process that is killed between the two statements of a start leaves a charge without a job, which counts for
 * minutes. A budget that was removed (its amount is null) bounds nothing and goes on counting: one that is set again in the same month has what that has cost.
 */

/** A budget; amounts are decimal texts. */
interface BudgetRecord {
  readonly currency: string;
  readonly amount: string;
  /** YYYY-MM. */
  readonly month: string;
  readonly spent: string;
  readonly held: string;
  readonly left: string;
}

/** What a job is to hold. */
interface NewCharge {
  readonly executionId: string;
  readonly organisationId: string;
  readonly currency: string;
  readonly bound: string;
  readonly fixed: string;
  readonly perSecond: string;
  readonly timeoutSeconds: number;
}

type BudgetKey = Pick<NewCharge, "organisationId" | "currency">;

/** Budgets of organisations for quantum jobs. */
export interface QuantumBudgetStore {
  /** By currency, as they are at this moment. */
  readonly list: (organisationId: string) => Promise<readonly BudgetRecord[]>;
  readonly find: (key: BudgetKey) => Promise<BudgetRecord | null>;
  /** What was spent and held before stays, also of one that was removed. */
  readonly put: (key: BudgetKey, amount: string) => Promise<void>;
  /** False: there was none. */
  readonly delete: (key: BudgetKey) => Promise<boolean>;
  /** True: it is held, or the organisation has no budget in this currency. False: too little is left. */
  readonly hold: (charge: NewCharge) => Promise<boolean>;
  /** The job was not started. */
  readonly release: (executionId: string) => Promise<void>;
}

/** SQL: the month of a row `b`. It never goes back, as that of a quota (executions/hold.ts). */
const MONTH = `greatest(b.month, ${THIS_MONTH})`;
const countedNow = (column: string) => `case when b.month >= ${THIS_MONTH} then b.${column} else 0 end`;
const SPENT = countedNow("spent");
const HELD = countedNow("held");

const IS_BUDGET = "b.organisation_id = $1::uuid and b.currency = $2";

const TRY_HOLD = `with known as materialized (
    select 1 from quantum_charge where execution_id = $3::uuid
  ), held as (
    update quantum_budget b set month = ${MONTH}, spent = ${SPENT}, held = ${HELD} + $4::numeric
    where ${IS_BUDGET} and not exists (select 1 from known) and (b.amount is null or ${SPENT} + ${HELD} + $4::numeric <= b.amount)
    returning b.month
  ), charged as (
    insert into quantum_charge (execution_id, organisation_id, currency, month, bound, fixed, per_second, timeout_seconds)
    select $3::uuid, $1::uuid, $2, month, $4::numeric, $5::numeric, $6::numeric, $7::int from held returning 1
  )
  select exists (select 1 from charged) or exists (select 1 from known)
    or not exists (select 1 from quantum_budget b where ${IS_BUDGET} and b.amount is not null) as "isAllowed"`;

/** CTEs: takes charges back whose bound and cost are in `gone`; a month that is over is not changed. */
const TAKE_BACK = `update quantum_budget b set held = greatest(0, b.held - s.bound), spent = b.spent + s.cost
    from (select organisation_id, currency, month, sum(bound) as bound, sum(cost) as cost from gone group by organisation_id, currency, month) s
    where b.organisation_id = s.organisation_id and b.currency = s.currency and b.month = s.month`;

const RELEASE = `with gone as (
    delete from quantum_charge where execution_id = $1::uuid returning organisation_id, currency, month, bound, 0 as cost
  ) ${TAKE_BACK}`;

/** A charge that was held so long ago for a job that is not there was held for nothing. */
const NEVER_STARTED = "10 minutes";
const AT_ONCE = 1_000;

/** Of one budget, so that no two statements wait for each other. Who settles it at the same time waits, and finds it settled. */
const SETTLE = `with budget as materialized (
    select 1 from quantum_budget b where ${IS_BUDGET} for update
  ), ended as materialized (
    select c.execution_id, ${COST_OF_ENDED} as cost
    from budget cross join quantum_charge c left join execution e on ${lookUp("e", "c.execution_id")}
    where c.organisation_id = $1::uuid and c.currency = $2
      and (e.ended_at is not null or (e.id is null and c.created_at < now() - interval '${NEVER_STARTED}'))
    limit ${AT_ONCE} for update of c skip locked
  ), gone as (
    delete from quantum_charge c using ended where c.execution_id = ended.execution_id
    returning c.organisation_id, c.currency, c.month, c.bound, ended.cost
  ), settled as (
    ${TAKE_BACK}
  )
  select execution_id from ended`;

const SELECT_BUDGETS = `select currency, trim_scale(amount)::text as amount, to_char(month, 'YYYY-MM') as month,
    trim_scale(spent)::text as spent, trim_scale(held)::text as held, trim_scale(greatest(0, amount - spent - held))::text as left
  from (select b.currency, b.amount, ${MONTH} as month, ${SPENT} as spent, ${HELD} as held from quantum_budget b
    where b.organisation_id = $1::uuid and b.amount is not null) b`;

/** The store of budgets in PostgreSQL. */
export function createQuantumBudgetStore(database: Database): QuantumBudgetStore {
  const read = async (organisationId: string): Promise<readonly BudgetRecord[]> => {
    const rows = await database.query<BudgetRecord>({
      text: `${SELECT_BUDGETS} order by currency`,
      values: [organisationId],
      idempotent: true,
    });
    return rows;
  };
  return {
    list: async (organisationId) => {
      for (const { currency } of await read(organisationId))
        await settleCharges(database, { organisationId, currency });
      return await read(organisationId);
    },
    find: async (key) => {
      await settleCharges(database, key);
      return (await read(key.organisationId)).find(({ currency }) => currency === key.currency) ?? null;
    },
    put: (key, amount) => putBudget(database, key, amount),
    delete: async ({ organisationId, currency }) => {
      const rows = await database.query({
        text: "update quantum_budget set amount = null where organisation_id = $1 and currency = $2 and amount is not null returning currency",
        values: [organisationId, currency],
        audited: ["quantum-budget.delete"],
      });
      return rows.length > 0;
    },
    hold: async (charge) => {
      if (await tryHold(database, charge)) return true;
      // Also where nothing was settled here: another start has done that at the same time.
      await settleCharges(database, charge);
      return await tryHold(database, charge);
    },
    release: async (executionId) => {
      await database.query({ text: RELEASE, values: [executionId], idempotent: true });
    },
  };
}

async function putBudget(
  database: Database,
  { organisationId, currency }: BudgetKey,
  amount: string,
): Promise<void> {
  await database.query({
    text: `insert into quantum_budget (organisation_id, currency, amount, month) values ($1, $2, $3::numeric, ${THIS_MONTH})
      on conflict (organisation_id, currency) do update set amount = excluded.amount returning currency`,
    values: [organisationId, currency, amount],
    idempotent: true,
    audited: ["quantum-budget.put"],
  });
}

async function tryHold(database: Database, charge: NewCharge): Promise<boolean> {
  const { organisationId, currency, executionId, bound, fixed, perSecond, timeoutSeconds } = charge;
  const [row] = await database.query<{ readonly isAllowed: boolean }>({
    name: "quantum-budget-hold",
    text: TRY_HOLD,
    values: [organisationId, currency, executionId, bound, fixed, perSecond, timeoutSeconds],
    idempotent: true,
  });
  return row?.isAllowed === true;
}

/** Puts what jobs of a budget that have ended have cost in the place of what they held. */
async function settleCharges(
  database: Pick<Database, "query">,
  { organisationId, currency }: BudgetKey,
): Promise<void> {
  for (;;) {
    const rows = await database.query({
      name: "quantum-budget-settle",
      text: SETTLE,
      values: [organisationId, currency],
      idempotent: true,
    });
    if (rows.length < AT_ONCE) return;
  }
}

/** The same of all budgets. */
export async function settleAllCharges(database: Pick<Database, "query">): Promise<void> {
  const budgets = await database.query<BudgetKey>({
    text: 'select distinct organisation_id as "organisationId", currency from quantum_charge',
    idempotent: true,
  });
  for (const budget of budgets) await settleCharges(database, budget);
}
