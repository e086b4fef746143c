import type { USAGE_API, Usage } from "@platform/contract/platform-api/usage";
import { MOST_USAGE_DAYS } from "@platform/contract/limits";
import { can } from "@platform/contract/permissions";
import { SUBSCRIPTIONS_API } from "@platform/contract/platform-api/subscriptions";
import { DAY } from "@platform/engine/base/time";
import { readPage } from "@platform/engine/http/paging";
import { refuseParameter } from "@platform/engine/http/query";
import type { OperationHandlers } from "@platform/engine/http/types";
import type { UsageRecord, UsageStore } from "../store/usage/usage.ts";
import type { PlatformCaller } from "./caller.ts";

/** Handlers that read what was used. `now`: milliseconds since the epoch. */
export function createUsageHandlers(
  { usage }: { readonly usage: UsageStore },
  now: () => number = Date.now,
): OperationHandlers<typeof USAGE_API, PlatformCaller> {
  return {
    getUsage: async ({ caller, query }) => {
      const page = await usage.read(caller.organisationId, {
        ...readPage(query),
        ...readPeriod(query, formatDay(now())),
        side: query.side ?? "consumer",
        by: query.by ?? "day",
        areSubscribersShown: can(caller.actor, SUBSCRIPTIONS_API.listServiceSubscriptions),
      });
      return { status: 200, body: { items: page.items.map(toUsageBody), nextCursor: page.nextCursor } };
    },
  };
}

/** @throws Problem INVALID_INPUT */
function readPeriod(
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
  today: string,
): { readonly from: string; readonly to: string } {
  const last = readDay("to", to) ?? today;
  const first = readDay("from", from) ?? `${last.slice(0, 8)}01`;
  const days = (Date.parse(last) - Date.parse(first)) / DAY + 1;
  if (days < 1)
    throw refuseParameter(
      "from",
      to === undefined ? `is ${first}, after today, ${last}` : `is ${first}, after "to", ${last}`,
    );
  if (days > MOST_USAGE_DAYS)
    throw refuseParameter("from", `must be at most ${MOST_USAGE_DAYS} days before the end`);
  return { from: first, to: last };
}

/** A day that the calendar has, in its pattern. */
function readDay(name: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const time = Date.parse(text);
  // Where a month is shorter, the parser goes on into the next one. Of the year 0 there is no day in PostgreSQL.
  if (Number.isNaN(time) || formatDay(time) !== text || text.startsWith("0000"))
    throw refuseParameter(name, "must be a day that the calendar has, as YYYY-MM-DD");
  return text;
}

function formatDay(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

function toUsageBody({ uncounted, cost, ...usage }: UsageRecord): Usage {
  const executions = usage.succeeded + usage.failed + usage.unknown;
  return { ...usage, executions, notCharged: uncounted, cost: cost.map((amount) => ({ ...amount })) };
}
