import type { Database } from "../../postgres/database.ts";
import { cutPage, decodeCursor } from "../base/page.ts";
import type { Page, PageRequest } from "../base/page.ts";
import { selectCosts } from "./cost.ts";
import type { UsageSide } from "./cost.ts";

/** What usage is added up by. */
type UsageDimension = "day" | "service" | "application" | "plan" | "version" | "subscription";

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

const NUMBER = "concat_ws('.', v.major, v.minor, v.patch)";
const SUBSCRIBER = "concat_ws(' / ', case when s.organisation_id = $1 then o.name end, a.name)";

/** SQL: key and label of each dimension. */
const DIMENSIONS: Readonly<Record<UsageDimension, { readonly key: string; readonly label: string }>> = {
  day: { key: "i.day::text", label: "i.day::text" },
  service: { key: "s.key::text", label: "s.name" },
  version: {
    key: `s.key || '/' || case when v.id is null then 'fees' else ${NUMBER} end`,
    label: `s.name || case when v.id is null then ' / monthly fees' else ' ' || ${NUMBER} end`,
  },
  plan: {
    key: "s.key || '/' || coalesce(p.slug, '-')",
    label: "s.name || ' / ' || coalesce(p.slug, 'no plan')",
  },
  application: {
    key: "coalesce(a.id::text, 'jobs')",
    label: `case when a.id is null then 'Jobs' else ${SUBSCRIBER} end`,
  },
  subscription: {
    key: "coalesce(i.subscription_id::text, 'jobs')",
    label: `case when a.id is null then 'Jobs' else concat_ws(' / ', ${SUBSCRIBER}, s.name) end`,
  },
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
  const { key, label } = DIMENSIONS[by];
  const isHidden = side === "provider" && NAMES_SUBSCRIBERS.has(by) && !areSubscribersShown;
  return `with ${selectCosts(side)}, named as (
      select (${key}) collate "C" as key, ${isHidden ? key : label} as label, i.*
      from item i join service s on s.key = i.service_key left join version v on v.id = i.version_id
      left join application a on a.id = i.application_id left join organisation o on o.id = a.organisation_id
      left join plan p on p.id = i.plan_id
    ), money as (
      select key, currency, sum(cost) as amount from named where currency is not null group by key, currency having sum(cost) > 0
    )
    select key, max(label) as label, sum(succeeded)::float8 as succeeded, sum(failed)::float8 as failed,
      sum(unknown)::float8 as unknown, sum(uncounted)::float8 as uncounted, (sum(cpu_micros) * 0.000001)::float8 as "cpuSeconds",
      (sum(gb_micros) * 0.000001)::float8 as "gbSeconds",
      coalesce((select jsonb_agg(jsonb_build_object('currency', m.currency, 'amount', trim_scale(m.amount)::text) order by m.currency)
        from money m where m.key = n.key), '[]') as cost
    from named n where $4::text is null or key > $4 group by key order by key limit $5`;
}
