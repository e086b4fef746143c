import type { Role } from "@platform/contract/permissions";
import { Problem } from "@platform/contract/problems";
import { readMonotonic } from "@platform/engine/base/monotonic";
import { SECOND } from "@platform/engine/base/time";
import type { ClaimKey, Renewal } from "@platform/engine/store/execution-store";
import { createUuidV7, isUuid } from "@platform/engine/base/uuid";
import type { Database } from "../../postgres/database.ts";
import { DEFAULT_BUILD_QUOTA, checkQuota, lockQuota } from "./build-quota.ts";
import type { BuildQuota } from "./build-quota.ts";
import { SELECT_BUILDS_BEFORE } from "./builds-before.ts";
import { holdRole } from "./hold-role.ts";
import { BUILDS_CHANNEL } from "../base/channels.ts";
import { formatVersion, isUniqueViolation, parseVersion, selectMilliseconds } from "../base/columns.ts";
import type { VersionNumber } from "../base/columns.ts";
import { isDraining } from "../base/draining.ts";
import { IS_HELD, failBuild, succeed } from "./end-build.ts";
import { readLog } from "./read-log.ts";
import type { ReadBuildLog } from "./read-log.ts";
import { createSteadyClock } from "../base/steady-clock.ts";
import type { SteadyClock } from "../base/steady-clock.ts";
import type { NewVersion } from "../versions/versions.ts";

/*
 * A build is claimed with a lease like an execution, but may be repeated, since it only writes files. The lease of a lost
 * builder ends, and the next claim takes the build again, up to MAX_ATTEMPTS times. A builder that stops gives its builds
 * back.
 */

/** SUCCEEDED and FAILED are final. */
type BuildStatus = "PENDING" | "RUNNING" | "SUCCEEDED" | "FAILED";

/** A build to be made. */
export interface NewBuild {
  readonly organisationId: string;
  readonly serviceKey: string;
  /** The version it makes, `MAJOR.MINOR.PATCH`. */
  readonly version: string;
  /** Names the archive in the object store. */
  readonly archiveHash: string;
  /** Equal for equal projects. */
  readonly contentHash: string;
  /** Accept a schema that breaks callers of the same major. */
  readonly isForced: boolean;
  /** Id of the user who deployed. */
  readonly requestedBy: string;
}

/** What the statement that stores a build needs besides. */
interface Upload {
  /** Size of archive and unpacked project on the disk; default 0. */
  readonly storedBytes?: number;
  /** Roles of which who requests it must still have one; absent: not asked. */
  readonly roles?: readonly Role[];
}

/** A build; times in milliseconds since the epoch, null before they are reached. */
export interface BuildRecord extends NewBuild {
  readonly id: string;
  readonly status: BuildStatus;
  /** Why it failed; null unless FAILED. */
  readonly failure: { readonly code: string; readonly detail: string } | null;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** How many others come before it, while it is PENDING; null from then on, absent where it was not asked for. */
  readonly buildsBefore?: number | null;
}

/** The right to run a build; every later write names it. */
export interface BuildClaim extends BuildRecord {
  readonly attempt: number;
  readonly workerId: string;
}

/** How a build ended; of a success, the version that goes live. */
export type BuildOutcome =
  | { readonly status: "SUCCEEDED"; readonly version: NewVersion }
  | { readonly status: "FAILED"; readonly code: string; readonly detail: string };

/** The builds of all organisations. Reads and writes for a caller name the organisation; writes of a builder name its claim. */
export interface BuildStore {
  /**
   * Null when the service is not the organisation's.
   *
   * @throws Problem CONFLICT while the same version is being built, QUOTA_EXCEEDED, FORBIDDEN
   */
  readonly create: (build: NewBuild, upload?: Upload) => Promise<BuildRecord | null>;
  /** Checks whether the organisation may have another build. @throws Problem QUOTA_EXCEEDED */
  readonly checkQuota: (organisationId: string) => Promise<void>;
  /**
   * A pending build, or one whose builder was lost: of the organisation with the fewest running builds, then of the one
   * whose last build began longest ago, then the oldest. Null: there is none.
   */
  readonly claim: (workerId: string, leaseSeconds: number) => Promise<BuildClaim | null>;
  /** Extends the leases that are still held; the answer lists the others. */
  readonly renew: (claims: readonly ClaimKey[], leaseSeconds: number) => Promise<Renewal>;
  /** Ends the build and, after a success, makes its version live. False when the claim is no longer held: nothing changed. */
  readonly finish: (claim: ClaimKey, outcome: BuildOutcome) => Promise<boolean>;
  /** For a builder that stops: makes the build PENDING again. False when the claim is no longer held. */
  readonly giveBack: (claim: ClaimKey) => Promise<boolean>;
  /** Adds lines at the end; dropped when the claim is no longer held. */
  readonly appendLog: (claim: ClaimKey, lines: readonly string[]) => Promise<void>;
  /** Lines from `offset` on, counted from 0; at most 5,000. None when the build is not the organisation's. */
  readonly readLog: ReadBuildLog;
  /** The latest build of this version (`MAJOR.MINOR.PATCH`), whatever its state; null when the organisation has none. */
  readonly findLatest: (
    organisationId: string,
    serviceKey: string,
    version: string,
  ) => Promise<BuildRecord | null>;
  /** Fails builds whose builder was lost at the last attempt; returns how many. */
  readonly sweep: () => Promise<number>;
  /** Calls back when there may be a build to claim; calls may be lost. Returns a function that stops it. */
  readonly subscribe: (listener: () => void) => () => void;
}

const MAX_ATTEMPTS = 3;
const DEFAULT_LEASE_SECONDS = 30;

/** A build as its columns are. */
export interface BuildRow extends VersionNumber, Omit<BuildClaim, "version" | "failure"> {
  readonly failureCode: string | null;
  readonly failureDetail: string | null;
}

/** The columns of a row, of the tables `build b` and `service s`. */
export const BUILD_COLUMNS = `b.id, s.organisation_id as "organisationId", b.service_key as "serviceKey", b.major, b.minor, b.patch,
  b.archive_hash as "archiveHash", b.content_hash as "contentHash", b.is_forced as "isForced",
  b.requested_by as "requestedBy", b.status, b.attempt, b.worker_id as "workerId", b.failure_code as "failureCode",
  b.failure_detail as "failureDetail", ${selectMilliseconds("b.created_at")} as "createdAt",
  ${selectMilliseconds("b.started_at")} as "startedAt", ${selectMilliseconds("b.ended_at")} as "endedAt"`;

/** Settings of the store of builds: limits of one organisation, and the length of the builders' leases; all have defaults. */
export interface BuildStoreOptions {
  readonly quota?: BuildQuota | undefined;
  readonly leaseSeconds?: number;
}

/** The store of builds in PostgreSQL. */
export function createBuildStore(database: Database, options: BuildStoreOptions = {}): BuildStore {
  const { quota = DEFAULT_BUILD_QUOTA, leaseSeconds: clockHoldSeconds = DEFAULT_LEASE_SECONDS } = options;
  const clock = createSteadyClock(clockHoldSeconds * SECOND);
  return {
    create: (build, upload = {}) => insertBuild(database, quota, build, upload),
    checkQuota: (organisationId) => checkQuota(database.query, organisationId, quota, null),
    claim: (workerId, leaseSeconds) => claimBuild({ database, clock }, workerId, leaseSeconds),
    renew: (claims, leaseSeconds) => renewBuilds(database, claims, leaseSeconds),
    finish: (claim, outcome) =>
      outcome.status === "SUCCEEDED"
        ? succeed(database, claim, outcome.version)
        : failBuild(database, claim, outcome.code, outcome.detail),
    giveBack: (claim) => giveBack(database, claim),
    appendLog: (...given) => appendLog(database, ...given),
    readLog: (...asked) => readLog(database, ...asked),
    findLatest: (...asked) => findLatest(database, ...asked),
    sweep: () => sweepBuilds({ database, clock }),
    subscribe: (listener) => database.listen(BUILDS_CHANNEL, { onNotify: listener, onReset: listener }),
  };
}

/** The build of a row. */
export function toBuildRecord({
  failureCode,
  failureDetail,
  major,
  minor,
  patch,
  ...row
}: BuildRow): BuildClaim {
  return {
    ...row,
    version: formatVersion({ major, minor, patch }),
    failure: failureCode === null ? null : { code: failureCode, detail: failureDetail ?? "" },
  };
}

async function insertBuild(
  database: Database,
  quota: BuildQuota,
  build: NewBuild,
  { storedBytes = 0, roles }: Upload,
): Promise<BuildRecord | null> {
  const number = parseVersion(build.version);
  if (number === null) throw new TypeError(`${build.version} is not MAJOR.MINOR.PATCH`);
  if (!isUuid(build.serviceKey)) return null;
  const { major, minor, patch } = number;
  try {
    const [row] = await database.transaction(async (run) => {
      // Until the commit: a concurrent build of this organisation is counted after this one is visible.
      await lockQuota(run, build.organisationId);
      await checkQuota(run, build.organisationId, quota, { archiveHash: build.archiveHash, storedBytes });
      const { organisationId, requestedBy: userId } = build;
      if (roles !== undefined) await holdRole(run, { organisationId, userId, roles });
      return run<BuildRow>({
        text: `with b as (
          insert into build (id, service_key, major, minor, patch, archive_hash, content_hash, is_forced, requested_by, stored_bytes)
          select $1, s.key, $4, $5, $6, $7, $8, $9, $10, $11 from service s where s.key = $2 and s.organisation_id = $3
          -- A service may be deleted meanwhile, which the key of the new row would run into.
          for key share of s
          returning *
        ) select ${BUILD_COLUMNS} from b join service s on s.key = b.service_key cross join lateral pg_notify('${BUILDS_CHANNEL}', '')`,
        values: [
          createUuidV7(),
          build.serviceKey,
          build.organisationId,
          major,
          minor,
          patch,
          build.archiveHash,
          build.contentHash,
          build.isForced,
          build.requestedBy,
          storedBytes,
        ],
        audited: ["version.create"],
      });
    });
    return row === undefined ? null : toBuildRecord(row);
  } catch (error) {
    if (!isUniqueViolation(error, "build_one_at_a_time")) throw error;
    throw new Problem("CONFLICT", `Version ${build.version} is being built already.`, { cause: error });
  }
}

interface ClockedDatabase {
  readonly database: Database;
  /** The clock of the database's host, which leases are compared with. */
  readonly clock: SteadyClock;
}

/** Not repeated after a lost answer: the build is then taken again when its lease is over. */
async function claimBuild(
  { database, clock }: ClockedDatabase,
  workerId: string,
  leaseSeconds: number,
): Promise<BuildClaim | null> {
  const [row] = await database.query<BuildRow>({
    name: "build-claim",
    text: `with candidate as (
        -- Takes turns between organisations. Two claims at the same moment do not see each other's running build, so turns
        -- are approximate then; the row locks still give each claim another build. $3 bounds the time of a clock that was
        -- set ahead; "least" ignores it while it is null. A build at its last attempt is left to the sweep.
        select b.id from build b join service s on s.key = b.service_key
        cross join lateral (
          select count(*) filter (where r.status = 'RUNNING' and r.lease_until >= now()) as running, max(r.started_at) as last_turn
          from service own join build r on r.service_key = own.key where own.organisation_id = s.organisation_id
        ) o
        where b.status in ('PENDING', 'RUNNING') and not ${isDraining("$1")}
          and (b.status = 'PENDING' or (b.lease_until < least(now(), to_timestamp($3::float8 / 1000)) and b.attempt < ${MAX_ATTEMPTS}))
          -- One after the other within a major number: each is compared with the version before it, which must not go live meanwhile.
          -- The database numbers builds, under the lock of the quota, so in the order of their commits: by ids, which are of the clocks of
          -- hosts, a build could come before one that is claimed already.
          -- A build whose builder was lost waits for nothing, so that no two wait for each other.
          and (b.status = 'RUNNING' or not exists (select 1 from build other where other.service_key = b.service_key
            and other.major = b.major and other.status in ('PENDING', 'RUNNING') and (other.status = 'RUNNING' or other.position < b.position)))
        order by o.running, o.last_turn nulls first, b.position limit 1 for update of b skip locked
      ), b as (
        -- The new attempt fences off every write of the builder that was lost.
        update build set status = 'RUNNING', attempt = attempt + 1, worker_id = $1,
          lease_until = now() + make_interval(secs => $2), started_at = coalesce(started_at, now())
        where id = (select id from candidate) returning *
      ) select ${BUILD_COLUMNS} from b join service s on s.key = b.service_key`,
    values: [workerId, leaseSeconds, clock.latest(readMonotonic())],
  });
  return row === undefined ? null : toBuildRecord(row);
}

/** As `renewLeases` of executions: a row that is being written is skipped, so that it does not delay the others. */
async function renewBuilds(
  database: Database,
  claims: readonly ClaimKey[],
  leaseSeconds: number,
): Promise<Renewal> {
  const rows = await database.query<{ id: string; isBusy: boolean }>({
    text: `with held as materialized (
        select b.id, b.attempt from unnest($1::uuid[], $2::int[], $3::text[]) as i (id, attempt, worker_id)
        join build b on b.id = i.id and b.attempt = i.attempt and b.worker_id = i.worker_id and b.status = 'RUNNING'
      ), free as materialized (
        select b.id from held join build b on b.id = held.id and b.attempt = held.attempt and b.status = 'RUNNING'
        for update of b skip locked
      ), renewed as (
        update build b set lease_until = now() + make_interval(secs => $4) from free where b.id = free.id returning b.id
      )
      select id, false as "isBusy" from renewed
      union all select id, true from held where id <> all (array(select id from free))`,
    values: [
      claims.map(({ id }) => id),
      claims.map(({ attempt }) => attempt),
      claims.map(({ workerId }) => workerId),
      leaseSeconds,
    ],
    idempotent: true,
  });
  const held = new Set(rows.map(({ id }) => id));
  return {
    lost: claims.map(({ id }) => id).filter((id) => !held.has(id)),
    cancelled: [],
    busy: rows.filter(({ isBusy }) => isBusy).map(({ id }) => id),
  };
}

/** The attempt stays as it is: the next claim raises it, so that no write of this one passes the fence any more. */
async function giveBack(database: Database, claim: ClaimKey): Promise<boolean> {
  const rows = await database.query({
    text: `with b as (
        update build set status = 'PENDING', lease_until = null, worker_id = null, started_at = null where ${IS_HELD} returning id
      ) select b.id from b cross join lateral pg_notify('${BUILDS_CHANNEL}', '')`,
    values: [claim.id, claim.attempt, claim.workerId],
  });
  return rows.length > 0;
}

async function appendLog(database: Database, claim: ClaimKey, lines: readonly string[]): Promise<void> {
  if (lines.length === 0) return;
  await database.query({
    text: `insert into build_log (build_id, line, text)
      select b.id, coalesce((select max(line) + 1 from build_log where build_id = b.id), 0) + l.position - 1, l.text
      from build b cross join unnest($4::text[]) with ordinality as l (text, position) where ${IS_HELD}`,
    values: [claim.id, claim.attempt, claim.workerId, lines.map((line) => line.replaceAll("\0", "\u{FFFD}"))],
  });
}

async function findLatest(
  database: Database,
  organisationId: string,
  serviceKey: string,
  version: string,
): Promise<BuildRecord | null> {
  const number = parseVersion(version);
  if (number === null || !isUuid(serviceKey)) return null;
  const [row] = await database.query<BuildRow>({
    text: `select ${BUILD_COLUMNS}, ${SELECT_BUILDS_BEFORE} from build b join service s on s.key = b.service_key
      where b.service_key = $1 and s.organisation_id = $2 and b.major = $3 and b.minor = $4 and b.patch = $5
      order by b.position desc limit 1`,
    values: [serviceKey, organisationId, number.major, number.minor, number.patch],
    idempotent: true,
  });
  return row === undefined ? null : toBuildRecord(row);
}

/** Only of builds that may not be claimed again. A concurrent write is waited for, and the conditions are checked again. */
async function sweepBuilds({ database, clock }: ClockedDatabase): Promise<number> {
  const at = readMonotonic();
  const [row] = await database.query<{ databaseNow: number; count: number }>({
    text: `with ended as (
        update build set status = 'FAILED', lease_until = null, ended_at = now(), failure_code = 'WORKER_LOST',
          failure_detail = 'The builder was lost during attempt ' || attempt || ' of this build.'
        where status = 'RUNNING' and lease_until < least(now(), to_timestamp($1::float8 / 1000)) and attempt >= ${MAX_ATTEMPTS}
        returning id
      ) select ${selectMilliseconds("now()")} as "databaseNow", (select count(*) from ended)::int as count`,
    values: [clock.latest(at)],
  });
  if (row === undefined) return 0;
  clock.note(row.databaseNow, at);
  return row.count;
}
