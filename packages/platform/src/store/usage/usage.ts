import type { UsageDimension, UsageSide } from "@platform/contract/platform-api/usage";
import type { Database } from "../../postgres/database.ts";
import { cutPage, decodeCursor } from "../base/page.ts";
import type { Page, PageRequest } from "../base/page.ts";
import { USAGE_SUMS } from "../executions/meter.ts";
import { selectCosts } from "./cost.ts";

/** Which usage is wanted. */
interface UsageQuestion extends PageRequest {
  readonly side: UsageSide;
  readonly by: UsageDimension;
  /** The first and the last day, YYYY-MM-DD, UTC. */
  readonly from: string;
  readonly to: string;
  /** Whether a provider is told the names of subscribers; otherwise their ids stand for them. */
  readonly areSubscribersShown: boolean;
}

/** An amount of money, as a decimal number. */
interface Money {
  readonly currency: string;
  readonly amount: string;
}

/** Usage of one day, service, ... */
export interface UsageRecord {
  /** Unique, and stable. */
  readonly key: string;
  readonly label: string;
  readonly succeeded: number;
  readonly failed: number;
  readonly unknown: number;
  /** Those of the above that the platform has failed, or that never ran. */
  readonly uncounted: number;
  readonly cpuSeconds: number;
  readonly gbSeconds: number;
  /** One for each currency; none: nothing. */
  readonly cost: readonly Money[];
}

/** What organisations have used. */
export interface UsageStore {
  /** Ordered by key. */
  readonly read: (organisationId: string, question: UsageQuestion) => Promise<Page<UsageRecord>>;
}

/** The columns of `item` that names are looked up by, with their types. */
const IDS = {
  day: "date",
  subscription_id: "uuid",
  application_id: "uuid",
  service_key: "uuid",
  version_id: "uuid",
  plan_id: "uuid",
} as const;

/** SQL: what a dimension is grouped by, and its key and label, which are made once for each group. */
interface DimensionText {
  readonly ids: readonly (keyof typeof IDS)[];
  readonly key: string;
  readonly label: string;
}

const NUMBER = "concat_ws('.', v.major, v.minor, v.patch)";
const subscriber = (side: UsageSide) => (side === "provider" ? "o.name || ' / ' || a.name" : "a.name");

const DIMENSIONS: Readonly<Record<UsageDimension, (side: UsageSide) => DimensionText>> = {
  day: () => ({ ids: ["day"], key: "i.day::text", label: "i.day::text" }),
  service: () => ({ ids: ["service_key"], key: "s.key::text", label: "s.name" }),
  version: () => ({
    ids: ["service_key", "version_id"],
    key: `s.key || '/' || case when v.id is null then 'fees' else ${NUMBER} end`,
    label: `s.name || case when v.id is null then ' / monthly fees' else ' ' || ${NUMBER} end`,
  }),
  plan: () => ({
    ids: ["service_key", "plan_id"],
    key: "s.key || '/' || coalesce(p.slug, '-')",
    label: "s.name || ' / ' || coalesce(p.slug, 'no plan')",
  }),
  application: (side) => ({
    ids: ["application_id"],
    key: "coalesce(a.id::text, 'jobs')",
    label: `coalesce(${subscriber(side)}, 'Jobs')`,
  }),
  subscription: (side) => ({
    ids: ["subscription_id", "application_id", "service_key"],
    key: "coalesce(i.subscription_id::text, 'jobs')",
    label: `coalesce(${subscriber(side)} || ' / ' || s.name, 'Jobs')`,
  }),
};

/** What only those may see who may list the subscribers of a service. */
const NAMES_SUBSCRIBERS: ReadonlySet<UsageDimension> = new Set(["application", "subscription"]);

const LONGEST_KEY = 200;

/** The store of usage in PostgreSQL. */
export function createUsageStore(database: Database): UsageStore {
  return { read: (organisationId, question) => readUsage(database, organisationId, question) };
}

async function readUsage(
  database: Database,
  organisationId: string,
  question: UsageQuestion,
): Promise<Page<UsageRecord>> {
  const [after] = decodeCursor(question.cursor, [(key) => key.length <= LONGEST_KEY]) ?? [null];
  const rows = await database.query<UsageRecord>({
    text: describeQuestion(question),
    values: [organisationId, question.from, question.to, after, question.limit + 1],
    idempotent: true,
  });
  return cutPage(rows, question.limit, ({ key }) => [key]);
}

function describeQuestion({ side, by, areSubscribersShown }: UsageQuestion): string {
  const { ids, key, label } = DIMENSIONS[by](side);
  const others = Object.entries(IDS).filter(([id]) => ids.every((one) => one !== id));
  const isHidden = side === "provider" && NAMES_SUBSCRIBERS.has(by) && !areSubscribersShown;
  return `with ${selectCosts(side)}, summed as (
      select ${[...ids, ...others.map(([id, type]) => `null::${type} as ${id}`)].join(", ")}, currency,
        sum(cost) as cost, ${USAGE_SUMS.map((name) => `sum(${name}) as ${name}`).join(", ")}
      from item group by ${ids.join(", ")}, currency
    ), named as (
      select (${key}) collate "C" as key, ${isHidden ? key : label} as label, i.*
      from summed i left join service s on s.key = i.service_key left join version v on v.id = i.version_id
      left join application a on a.id = i.application_id left join organisation o on o.id = a.organisation_id
      left join plan p on p.id = i.plan_id
    ), money as (
      select key, currency, sum(cost) as amount from named where currency is not null group by key, currency having sum(cost) > 0
    ), bill as (
      select key, jsonb_agg(jsonb_build_object('currency', currency, 'amount', trim_scale(amount)::text) order by currency) as cost
      from money group by key
    ), shown as (
      select key, max(label) as label, ${USAGE_SUMS.map((name) => `sum(${name}) as ${name}`).join(", ")}
      from named where $4::text is null or key > $4 group by key order by key limit $5
    )
    select key, label, succeeded::float8, failed::float8, unknown::float8, uncounted::float8,
      (cpu_micros * 0.000001)::float8 as "cpuSeconds", (gb_micros * 0.000001)::float8 as "gbSeconds",
      coalesce(bill.cost, '[]') as cost
    from shown left join bill using (key) order by key`;
}
