import type { Database } from "../../postgres/database.ts";

/*
 * Gives committed changes their positions. Readers ask for what is behind a position, so no change may become visible before one that a
 * reader has passed. The ids of feed_new do not promise that: a transaction that took an id early may commit late. Positions do: they are
 * given by one transaction at a time, which holds the row of the last position until it has committed, and only to rows that it sees.
 *
 * Changes of one execution keep their order. The later one took its id while it held the execution's row, so after the earlier one had
 * committed: whoever sees the later one sees the earlier one as well, with a smaller id, or finds it moved.
 *
 * Any process may do this, at any time. One that is killed has moved all of its rows or none.
 */

/** Rows in one statement. */
const MAX_MOVED = 2_000;

const MOVE = `with pending as materialized (
    select id from feed_new order by id limit $1
  ), last as materialized (
    -- Waits for another sequencer; its position is then the latest. Not locked while there is nothing to do.
    select position from feed_mark where name = 'sequenced' and exists (select 1 from pending) for update
  ), taken as (
    -- What another has moved meanwhile is not there any more, and is left out.
    delete from feed_new n using last where n.id = any (array(select id from pending)) returning n.*
  ), numbered as (
    select t.*, last.position + row_number() over (order by t.id) as position from taken t cross join last
  ), placed as (
    insert into feed_event (position, at, execution_id, status, code, service_key, version, subscription_id, application_id,
      organisation_id, provider_id)
    select n.position, n.at, n.execution_id, n.status, n.code, v.service_key, concat_ws('.', v.major, v.minor, v.patch), b.id, b.application_id,
      -- A job concerns nobody else, also one of a backend that another organisation shares.
      n.organisation_id, case n.owner_kind when 'subscription' then s.organisation_id else n.organisation_id end
    from numbered n
    join version v on v.id = any (array[n.version_id])
    join service s on s.key = any (array[v.service_key])
    left join subscription b on b.id = any (array[n.owner_id]) and n.owner_kind = 'subscription'
  ), moved as (
    update feed_mark set position = feed_mark.position + (select count(*) from taken)
    where name = 'sequenced' and exists (select 1 from taken)
  )
  select (select count(*) from pending)::int as found,
    coalesce((select position from last) + (select count(*) from taken),
      (select position from feed_mark where name = 'sequenced'))::float8 as head`;

/** Where nothing is to be moved: a small part of the work, each second. Ordered, as only the index skips what was deleted. */
const LOOK = `select position::float8 as head from feed_mark
  where name = 'sequenced' and (select id from feed_new order by id limit 1) is null`;

/** Moves all that is committed. Returns the last position. */
export async function sequenceFeed(database: Database): Promise<number> {
  const [still] = await database.query<{ readonly head: number }>({
    name: "feed-look",
    text: LOOK,
    idempotent: true,
  });
  if (still !== undefined) return still.head;
  for (;;) {
    const [row] = await database.query<{ readonly found: number; readonly head: number }>({
      name: "feed-sequence",
      text: MOVE,
      values: [MAX_MOVED],
      idempotent: true,
    });
    if (row === undefined) throw new Error("the feed has no last position");
    // By what it saw, not by what it moved: another may have moved that, and not yet what is behind it.
    if (row.found < MAX_MOVED) return row.head;
  }
}
