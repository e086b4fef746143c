/*
 * The advisory locks of the platform, in one file so that no two uses share a key by accident
 * (https://www.postgresql.org/docs/18/explicit-locking.html#ADVISORY-LOCKS). The numbers are arbitrary, but must stay
 * the same from release to release: during an upgrade processes of both releases use one database.
 *
 * PostgreSQL keeps locks with one key apart from locks with two, so QUOTA_LOCK and FIRST_LOGIN_LOCK do not block each
 * other although they have the same number.
 */

/** One process at a time applies migrations. Held by the transaction of each migration. */
export const MIGRATION_LOCK = 7_362_310;

/** One process at a time inserts the first signing key. Held by that transaction. */
export const FIRST_KEY_LOCK = 7_362_311;

/** One process at a time creates or drops daily partitions. Held by each transaction that does. */
export const PARTITION_LOCK = 7_362_312;

/** One process at a time sweeps expired leases of executions. Held by the sweep's statement. */
export const SWEEP_LOCK = 7_362_313;

/** One process at a time creates the platform's database. Taken in the database `postgres`; held by the session. */
export const CREATE_DATABASE_LOCK = 7_362_314;

/** One process at a time creates the first user. Held by a transaction that is open until the login is written. */
export const FIRST_LOGIN_LOCK = 7_362_315;

/**
 * First of two keys; the second is `hashtext` of the organisation's id. One build at a time is counted against the quota
 * of an organisation. Held by the transaction that inserts the build.
 */
export const QUOTA_LOCK = 7_362_315;

/** One process at a time rolls up usage. Held by the statement. */
export const USAGE_LOCK = 7_362_316;

/**
 * First of two keys; the second is `hashtext` of the organisation's id. One of its applications at a time gets a plan that only some of
 * them can have. Held by the transaction that subscribes or changes the plan, which takes no row of another one after it.
 */
export const PLAN_LOCK = 7_362_317;

/**
 * First of two keys; the second is `hashtext` of the organisation's id. One file at a time is counted against what its data pools may
 * hold. Held by the transaction that stores the file, which holds the row of the pool before.
 */
export const POOL_LOCK = 7_362_318;

/** One process at a time gives executions that have waited for long a higher class. Held by the statement. */
export const PROMOTE_LOCK = 7_362_319;

/** One process at a time releases executions that are held. Held by the statement. */
export const RELEASE_LOCK = 7_362_320;

/** One process at a time gives places of limits. Held by the transaction that counts and gives them. */
export const RELEASE_LIMITED_LOCK = 7_362_321;

/** One process at a time ends executions that have not begun by the deadline of their start. Held by the statement. */
export const EXPIRE_LOCK = 7_362_322;

/** One test process at a time creates the template of the test databases. Held by the session. */
export const TEST_TEMPLATE_LOCK = 7_362_399;
