import type { Database } from "../../postgres/database.ts";

/** How tries are counted for one account or client. */
export interface AttemptLimit {
  /** So many in a row are free. */
  readonly freeTries: number;
  /** Wait after the first one beyond, in seconds; doubled with each further one. */
  readonly firstWaitSeconds: number;
  readonly longestWaitSeconds: number;
}

/** A try that was counted, or refused. */
interface Take {
  /** 0: it was counted. Otherwise for how many seconds no try is let through. */
  readonly waitSeconds: number;
  /** Tries within the memory, this one among them. */
  readonly tries: number;
}

/** Counts tries to sign in; all processes count together. */
export interface AttemptStore {
  /**
   * Counts a try before it is made, so that tries at the same time cannot exceed the limit; `tryId` is a UUID of its own. A
   * try that is refused does not count.
   */
  readonly take: (subject: string, tryId: string, limit: AttemptLimit) => Promise<Take>;
  /** Forgets the tries of a subject, and of those that are named after it with an @. */
  readonly forget: (subject: string) => Promise<void>;
  /** Takes a try back, which was no guess, and the wait that it began; not one that a later try began. */
  readonly giveBack: (subject: string, tryId: string) => Promise<void>;
}

/** After so long without a try all is forgotten. */
const MEMORY = "interval '1 day'";

/** The counters in PostgreSQL. */
export function createAttemptStore(database: Database): AttemptStore {
  return {
    take: (subject, tryId, limit) => takeAttempt(database, subject, tryId, limit),
    forget: async (subject) => {
      await database.query({
        text: "delete from sign_in_attempt where subject = $1 or subject ^@ ($1 || '@')",
        values: [subject],
        idempotent: true,
      });
    },
    giveBack: async (subject, tryId) => {
      await database.query({
        text: `update sign_in_attempt set tries = greatest(tries - 1, 0),
            blocked_until = case when try_id = $2 then null else blocked_until end
          where subject = $1`,
        values: [subject, tryId],
      });
    },
  };
}

async function takeAttempt(
  database: Database,
  subject: string,
  tryId: string,
  limit: AttemptLimit,
): Promise<Take> {
  const [row] = await database.query<{ isTaken: boolean; wait: number; tries: number }>({
    name: "sign-in-attempt-take",
    text: `insert into sign_in_attempt as a (subject, tries, try_id) values ($1, 1, $2)
      on conflict (subject) do update set (tries, try_id, tried_at, blocked_until) = (
        select
          case when is_blocked then a.tries else tries end,
          case when is_blocked then a.try_id else excluded.try_id end,
          case when is_blocked then a.tried_at else now() end,
          case
            when is_blocked then a.blocked_until
            when tries >= $3 then now() + make_interval(secs => least($4 * power(2, least(tries - $3, 30)), $5))
          end
        from (select
          coalesce(a.blocked_until > now(), false) as is_blocked,
          case when a.tried_at < now() - ${MEMORY} then 1 else a.tries + 1 end as tries) as next
      )
      returning try_id = $2 as "isTaken", tries, ceil(extract(epoch from a.blocked_until - now()))::int as wait`,
    values: [subject, tryId, limit.freeTries, limit.firstWaitSeconds, limit.longestWaitSeconds],
  });
  if (row === undefined) throw new Error("The insert returned no row.");
  return { waitSeconds: row.isTaken ? 0 : Math.max(1, row.wait), tries: row.tries };
}
