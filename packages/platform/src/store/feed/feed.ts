import type { ExecutionStatus } from "@platform/contract/execution";
import { Problem } from "@platform/contract/problems";
import { isUuid } from "@platform/engine/base/uuid";
import type { Database, Statement } from "../../postgres/database.ts";
import { decodeCursor, encodeCursor } from "../base/page.ts";
import { sequenceFeed } from "./sequence.ts";

/** For how many days an event can be read. */
const FEED_DAYS = 7;

/** One change of state, as it was committed. */
export interface FeedEvent {
  readonly position: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly executionId: string;
  readonly status: ExecutionStatus;
  /** Why it did not succeed; null: it has not failed. */
  readonly code: string | null;
  readonly serviceKey: string;
  readonly version: string;
  /** Null, as the next: a job. */
  readonly subscriptionId: string | null;
  readonly applicationId: string | null;
  /** Whose execution it is. */
  readonly organisationId: string;
  /** Whose service it is. */
  readonly providerId: string;
}

/** Who reads: an application what its subscriptions started, an organisation that, its jobs, and what others start of its services. */
export interface FeedReader {
  readonly kind: "application" | "organisation";
  readonly id: string;
}

/** The positions between which events can be read. */
interface FeedRange {
  /** The last that was removed. */
  readonly removed: number;
  /** The last that was given. */
  readonly head: number;
}

/** The durable feed of changes of state. */
export interface FeedStore {
  /** Gives what is committed its position; any process may call it at any time. Returns the last position. */
  readonly sequence: () => Promise<number>;
  readonly readRange: () => Promise<FeedRange>;
  /** The first events behind a position; a reader of null: all events. @throws Problem CURSOR_EXPIRED where some behind it were removed */
  readonly read: (reader: FeedReader | null, after: number, limit: number) => Promise<readonly FeedEvent[]>;
  /** Removes some of what is older than FEED_DAYS. Returns how many events. */
  readonly removeOld: () => Promise<number>;
}

/** The feed in PostgreSQL. `database` has the settings of the store of executions (execution-store.ts). */
export function createFeedStore(database: Database): FeedStore {
  return {
    sequence: () => sequenceFeed(database),
    readRange: () => readRange(database),
    read: (reader, after, limit) => readEvents(database, { reader, after, limit }),
    removeOld: () => removeOld(database),
  };
}

/** An opaque cursor of what is behind a position. */
export function encodePosition(position: number): string {
  return encodeCursor([String(position)]);
}

/** `0` is the beginning. @throws Problem INVALID_INPUT */
export function decodePosition(cursor: string): number {
  if (cursor === "0") return 0;
  const [position = "0"] = decodeCursor(cursor, [(key) => /^\d{1,15}$/.test(key)]) ?? [];
  return Number(position);
}

/** `cursor` `0`: the first that is there. @throws Problem CURSOR_EXPIRED, INVALID_INPUT */
export function findStart(cursor: string, { removed, head }: FeedRange): number {
  if (cursor === "0") return removed;
  const position = decodePosition(cursor);
  // Beyond the last: of a database that was since restored from a backup.
  if (position < removed || position > head) throw new Problem("CURSOR_EXPIRED");
  return position;
}

async function readRange(database: Database): Promise<FeedRange> {
  const rows = await database.query<{
    readonly name: keyof FeedRange | "sequenced";
    readonly position: number;
  }>({
    name: "feed-range",
    text: "select name, position::float8 as position from feed_mark",
    idempotent: true,
  });
  const find = (wanted: string) => rows.find(({ name }) => name === wanted)?.position ?? 0;
  return { removed: find("removed"), head: find("sequenced") };
}

const COLUMNS = `position::float8 as position, (extract(epoch from at) * 1000)::float8 as at, execution_id as "executionId", status, code,
  service_key as "serviceKey", version, subscription_id as "subscriptionId", application_id as "applicationId",
  organisation_id as "organisationId", provider_id as "providerId"`;

/** With what was removed, as of the same moment: a page that lacks something of it must not look complete. */
const describeRead = (
  events: string,
) => `select m.position::float8 as removed, e.* from feed_mark m left join (${events}) e on true
  where m.name = 'removed' order by e.position`;

// The column, not what is selected under its name: no index has the order of that.
const READ_ALL = describeRead(
  `select ${COLUMNS} from feed_event where position > $1 order by feed_event.position limit $2`,
);

/**
 * In the order of the index of this column, whose scan begins behind the position. With "=" that column would be none of the order, and where there
 * are few readers, PostgreSQL would take the index of positions and look through all events for those of one that has few.
 */
const describePart = (column: string, condition = "true") => `select ${COLUMNS} from feed_event
  where (${column}, position) > ($3::uuid, $1::bigint) and ${column} <= $3::uuid and ${condition}
  order by ${column}, feed_event.position limit $2`;

const READ_APPLICATION = describeRead(describePart("application_id"));
/** Both parts together are as many as two pages. */
const READ_ORGANISATION = describeRead(`select e.* from (
    (${describePart("organisation_id")}) union all (${describePart("provider_id", "provider_id <> organisation_id")})
  ) e order by e.position limit $2`);

/** At least one row: its position is null where there is no event. */
type ReadRow = { readonly removed: number } & (FeedEvent | { readonly position: null });

async function readEvents(
  database: Database,
  {
    reader,
    after,
    limit,
  }: { readonly reader: FeedReader | null; readonly after: number; readonly limit: number },
): Promise<readonly FeedEvent[]> {
  if (reader !== null && !isUuid(reader.id)) return [];
  const rows = await database.query<ReadRow>({
    ...(reader === null ? { name: "feed-read-all", text: READ_ALL } : READ_OF[reader.kind]),
    values: [after, limit, ...(reader === null ? [] : [reader.id])],
    idempotent: true,
  });
  // Since the place was judged; a reader of a week ago that is slow.
  if (rows.some(({ removed }) => removed > after)) throw new Problem("CURSOR_EXPIRED");
  return rows.flatMap(toEvent);
}

function toEvent(row: ReadRow): readonly FeedEvent[] {
  if (row.position === null) return [];
  const { removed: _removed, ...event } = row;
  return [event];
}

const READ_OF = {
  application: { name: "feed-read-application", text: READ_APPLICATION },
  organisation: { name: "feed-read-organisation", text: READ_ORGANISATION },
} as const satisfies Record<FeedReader["kind"], Pick<Statement, "name" | "text">>;

/** In one statement: readers then wait for nothing. */
const MAX_REMOVED = 10_000;

/** The mark is changed with the removal: a cursor that is behind it is refused from then on, and none is told that there was nothing. */
const REMOVE = `with old as materialized (
    select position, at from feed_event order by position limit $2
  ), gone as (
    delete from feed_event e where e.position = any (array(
      select position from old where at < now() - make_interval(days => $1)
    )) returning e.position
  ), marked as (
    update feed_mark set position = greatest(feed_mark.position, (select max(position) from gone))
    where name = 'removed' and exists (select 1 from gone)
  )
  select count(*)::int as count from gone`;

async function removeOld(database: Database): Promise<number> {
  const [row] = await database.query<{ readonly count: number }>({
    text: REMOVE,
    values: [FEED_DAYS, MAX_REMOVED],
  });
  return row?.count ?? 0;
}
