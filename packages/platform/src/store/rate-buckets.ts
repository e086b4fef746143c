import type { Database } from "../postgres/database.ts";

/** What a subject may start, or change: so many at once, and so many a second in the long run. */
export interface RateAllowance {
  /** `application:<id>`, `rehearsals:` and one of the subjects of starts, `subscription:<id of the application>/<key of the service>`, and of the platform API `user:<id>`, `organisation:<id>`, `jobs:<id of the organisation>`, and those of `accounts/attempts.ts`: `sign-in:<network of a client>` and the like, `invitation:<hash of an address>`. */
  readonly subject: string;
  readonly burst: number;
  readonly perSecond: number;
}

/** What a gateway takes from a bucket. */
interface Withdrawal {
  /** Tokens of requests that were let through already: taken also from an empty bucket. Below zero: tokens that are put back. */
  readonly owed: number;
  /** Tokens to reserve, as far as they are there. */
  readonly wanted: number;
}

/** The bucket after a withdrawal. */
interface BucketState {
  readonly granted: number;
  /** Tokens that are left; below zero while what was owed is not paid. */
  readonly level: number;
}

/** Buckets of tokens that all gateways share. The table has its name from starts, which were counted first. */
export interface RateBucketStore {
  /** Tokens that are there now; nothing is changed. @throws Problem UNAVAILABLE */
  readonly read: (allowance: RateAllowance) => Promise<number>;
  /** @throws Problem UNAVAILABLE */
  readonly withdraw: (allowance: RateAllowance, withdrawal: Withdrawal) => Promise<BucketState>;
}

/** The buckets in PostgreSQL, by its clock. */
export function createRateBucketStore(database: Database): RateBucketStore {
  return {
    withdraw: (allowance, withdrawal) => withdraw(database, allowance, withdrawal),
    read: (allowance) => readLevel(database, allowance),
  };
}

const REFILLED =
  "least($2::float8, b.level + $3::float8 * greatest(0, extract(epoch from clock_timestamp() - b.at)::float8))";
const GRANT = "lateral (select least($5::int, greatest(0, floor(level)))::int as granted) as grant_";

async function readLevel(database: Database, { subject, burst, perSecond }: RateAllowance): Promise<number> {
  const [row] = await database.query<{ readonly level: number }>({
    name: "rate-bucket-read",
    text: `select ${REFILLED} as level from start_bucket b where b.subject = $1`,
    values: [subject, burst, perSecond],
    idempotent: true,
  });
  return row?.level ?? burst;
}

/**
 * A clock that was set back refills nothing until the next withdrawal, which has the new time from then on. Repeated after a lost
 * answer it takes the tokens twice: such a subject starts a little less.
 */
async function withdraw(
  database: Database,
  { subject, burst, perSecond }: RateAllowance,
  { owed, wanted }: Withdrawal,
): Promise<BucketState> {
  const [row] = await database.query<BucketState>({
    name: "rate-bucket-withdraw",
    text: `insert into start_bucket as b (subject, level, granted, at)
      select $1, level - granted, granted, clock_timestamp()
        from (select least($2::float8, $2::float8 - $4::float8) as level) as full_bucket, ${GRANT}
      on conflict (subject) do update set (level, granted, at) = (
        select level - granted, granted, clock_timestamp()
        from (select least($2::float8, ${REFILLED} - $4::float8) as level) as refilled, ${GRANT}
      )
      returning granted, level`,
    values: [subject, burst, perSecond, owed, wanted],
    idempotent: true,
  });
  if (row === undefined) throw new Error("The insert returned no row.");
  return row;
}
