/**
 * SQL, of a build `b`: how many others are likely to begin before it, or have to end before, while it is PENDING; null from then on.
 * Organisations take turns, as in the claim: the second build that waits of one comes after the first ones of the others. Of those with
 * equally many, the older build is taken to be the next: who had the last turn is in all builds of an organisation, and streams ask this
 * twice a second. Read are those that wait or run, of which an organisation has at most 20.
 */
export const SELECT_BUILDS_BEFORE = `case when b.status = 'PENDING' then (
    with queue as (
      select w.id, w.status, w.service_key, w.major, w.position,
        count(*) filter (where w.status = 'RUNNING' and w.lease_until >= now()) over (partition by ws.organisation_id)
          + row_number() over (partition by ws.organisation_id, w.status order by w.position) as turn
      from build w join service ws on ws.key = w.service_key where w.status in ('PENDING', 'RUNNING')
    )
    select count(*)::int from queue own join queue other on other.id <> own.id
    where own.id = b.id and case other.status when 'PENDING' then (other.turn, other.position) < (own.turn, own.position)
      -- Within a major number, one is built after the other.
      else other.service_key = own.service_key and other.major = own.major end
  ) end as "buildsBefore"`;
