import type { MarketplaceSort } from "@platform/contract/platform-api/marketplace-sorts";
import { isUuid } from "@platform/engine/base/uuid";
import type { Database } from "../postgres/database.ts";
import { cutPage, decodeCursor } from "./base/page.ts";
import type { Page, PageRequest } from "./base/page.ts";
import { SHOWN_COLUMNS } from "./listings.ts";
import type { CardRecord } from "./marketplace.ts";
import { SELECT_FIGURES, toFigures } from "./service-figures.ts";
import type { FigureSums } from "./service-figures.ts";

/** What is searched for. */
export interface MarketplaceSearch extends PageRequest {
  /** Words, each a whole one or the beginning of one. */
  readonly words?: string | undefined;
  readonly tag?: string | undefined;
  /** Only what has a plan that costs nothing. */
  readonly isFree?: boolean;
  /** Absent: with words the best match first, else the newest. */
  readonly sort?: MarketplaceSort | undefined;
}

const MAX_WORDS = 10;

/** SQL: what belongs to a service `s`: its organisation, its highest live version `v`, its listing `l`. */
const WITH_SHOWN = `join organisation o on o.id = s.organisation_id
  join lateral (select * from version v where v.service_key = s.key and v.retired_at is null
    order by v.major desc, v.minor desc, v.patch desc limit 1) v on true
  left join listing l on l.service_key = s.key`;

/**
 * Only what is published, only with a live version. What is published internally is found by its own organisation
 * alone.
 */
const IS_OFFERED = `o.deleted_at is null and (s.publication = 'marketplace' or (s.publication = 'internal' and s.organisation_id = $1))`;

/** SQL: what can be subscribed to by the organisation $1, as `s`, `o`, `v` and `l`. */
export const OFFERED = `from service s ${WITH_SHOWN} where ${IS_OFFERED}`;

const CURRENT_PLANS = "from plan p where p.service_key = s.key and p.ended_at is null";
const PRICES = "p.currency, p.monthly_fee, p.per_execution, p.per_cpu_second";

/** SQL: the current plan of a service `s` that costs the least; amounts of different currencies are not compared, the first by name counts. */
const CHEAPEST = `select ${PRICES} ${CURRENT_PLANS}
  order by p.currency collate "C" nulls first, p.monthly_fee, p.per_execution, p.per_cpu_second limit 1`;

/** SQL: what cards show of a service `s` of OFFERED. */
export const CARD_COLUMNS = `s.key as "serviceKey", s.name as "serviceName", o.name as "providerName", o.slug as "providerSlug", s.publication, ${SHOWN_COLUMNS},
  concat_ws('.', v.major, v.minor, v.patch) as "latestVersion",
  exists (select 1 ${CURRENT_PLANS} and p.currency is null) as "hasFreePlan",
  (select jsonb_build_object('currency', p.currency, 'monthly', trim_scale(p.monthly_fee)::text,
    'perExecution', trim_scale(p.per_execution)::text, 'perCpuSecond', trim_scale(p.per_cpu_second)::text) from (${CHEAPEST}) p) as "priceFrom",
  (select count(distinct (${PRICES})) > 1 ${CURRENT_PLANS}) as "hasOtherPrices", (${SELECT_FIGURES}) as figures`;

/** What the words are looked for in; the weights are those of `ts_rank`. */
const SEARCHED = `setweight(to_tsvector('simple', concat_ws(' ', s.name, l.title, array_to_string(l.tags, ' '))), 'A')
  || setweight(to_tsvector('simple', coalesce(l.summary, '')), 'B') || coalesce(l.search, v.search)`;

/** A value that decides about the order: its SQL, its type there, and whether a cursor may have such a text. */
interface SortKey {
  readonly sql: string;
  readonly type: string;
  readonly isOne: (text: string) => boolean;
}

interface Order {
  /** The service's key comes after them, in the same direction, so that no two are equal. */
  readonly keys: readonly SortKey[];
  readonly direction: "asc" | "desc";
  /** Whether CHEAPEST is looked up for each service, as `c`. */
  readonly hasPrice?: true;
}

const SERVICE_KEY: SortKey = { sql: "s.key", type: "uuid", isOne: isUuid };

/** An amount as `numeric(15,6)` writes it. */
const amount = (column: string): SortKey => ({
  sql: `coalesce(c.${column}, 0)`,
  type: "numeric",
  isOne: (text) => /^[0-9]{1,9}(\.[0-9]{1,6})?$/u.test(text),
});

const ORDERS: Readonly<Record<MarketplaceSort | "match", Order>> = {
  match: {
    keys: [{ sql: `ts_rank(${SEARCHED}, to_tsquery('simple', $2))::float8`, type: "float8", isOne: isRank }],
    direction: "desc",
  },
  newest: { keys: [], direction: "desc" },
  // Byte by byte, so that every database has one order, whatever it was made with.
  name: {
    keys: [
      {
        sql: `lower(coalesce(l.title, s.name)) collate "C"`,
        type: `text collate "C"`,
        isOne: (text) => text.length <= LONGEST_TITLE,
      },
    ],
    direction: "asc",
  },
  price: {
    keys: [
      {
        sql: `coalesce(c.currency, '') collate "C"`,
        type: `text collate "C"`,
        isOne: (text) => /^([A-Z]{3})?$/u.test(text),
      },
      amount("monthly_fee"),
      amount("per_execution"),
      amount("per_cpu_second"),
    ],
    direction: "asc",
    hasPrice: true,
  },
};

/** Lower case may be longer than the 120 characters of a title. */
const LONGEST_TITLE = 400;

type ListedRow = Omit<CardRecord, "figures"> & {
  readonly figures: FigureSums;
  readonly sortKeys: readonly string[];
};

/** Services that an organisation can subscribe to, page after page. */
export async function listOffers(
  database: Database,
  organisationId: string,
  { words, tag, isFree = false, sort, limit, cursor }: MarketplaceSearch,
): Promise<Page<CardRecord>> {
  const query = words === undefined || words.trim() === "" ? undefined : toQuery(words);
  const kind = sort ?? (query === undefined ? "newest" : "match");
  const { keys } = ORDERS[kind];
  // The order stands in the cursor: one of another list is refused, not compared.
  const checks = [(text: string) => text === kind, ...keys.map(({ isOne }) => isOne), isUuid];
  const [, ...after] = decodeCursor(cursor, checks) ?? [];
  if (query === null) return { items: [], nextCursor: null };
  const rows = await database.query<ListedRow>({
    text: describeList(kind, after.length > 0),
    values: [organisationId, query ?? null, tag ?? null, isFree, limit + 1, ...after],
    idempotent: true,
  });
  const page = cutPage(rows, limit, (row) => [kind, ...row.sortKeys, row.serviceKey]);
  return {
    ...page,
    items: page.items.map(({ sortKeys: _sortKeys, figures, ...card }) => ({
      ...card,
      figures: toFigures(figures),
    })),
  };
}

/** The page is chosen by keys alone: icons and prices are read of what is on it. */
function describeList(kind: keyof typeof ORDERS, isContinued: boolean): string {
  const { keys, direction, hasPrice = false } = ORDERS[kind];
  const sorted = [...keys, SERVICE_KEY];
  const names = sorted.map((_, index) => `k${index}`);
  const before = sorted.map(({ type }, index) => `$${index + 6}::${type}`);
  const order = names.map((name) => `${name} ${direction}`).join(", ");
  const comparison = direction === "asc" ? ">" : "<";
  return `select ${CARD_COLUMNS}, array[${names
    .slice(0, -1)
    .map((name) => `${name}::text`)
    .join(", ")}]::text[] as "sortKeys"
    from (
      select * from (
        select ${sorted.map(({ sql }, index) => `${sql} as k${index}`).join(", ")}
        from service s ${WITH_SHOWN} ${hasPrice ? `left join lateral (${CHEAPEST}) c on true` : ""}
        where ${IS_OFFERED} and ($2::text is null or (${SEARCHED}) @@ to_tsquery('simple', $2)) and ($3::text is null or $3 = any (l.tags))
          and (not $4 or exists (select 1 ${CURRENT_PLANS} and p.currency is null))
      ) found
      ${isContinued ? `where (${names.join(", ")}) ${comparison} (${before.join(", ")})` : ""}
      order by ${order} limit $5
    ) found join service s on s.key = found.k${keys.length} ${WITH_SHOWN}
    order by ${order}`;
}

/** A query of `to_tsquery` for all of the words; null: there is none. Letters and digits only, so nothing of it is an operator. */
function toQuery(words: string): string | null {
  const found = words.match(/[\p{L}\p{N}]+/gu) ?? [];
  return found.length === 0
    ? null
    : found
        .slice(0, MAX_WORDS)
        .map((word) => `'${word}':*`)
        .join(" & ");
}

/** As PostgreSQL writes a rank, which is below 10. */
function isRank(text: string): boolean {
  return /^[0-9](\.[0-9]{1,25})?(e-[0-9]{2})?$/u.test(text);
}
