import { isUuid } from "@platform/engine/base/uuid";
import { BACKEND_PRIORITY } from "@platform/engine/store/kinds";
import type { Database } from "../postgres/database.ts";
import { parseVersion, selectMilliseconds } from "./base/columns.ts";
import { lookUp } from "./executions/lookup.ts";
import { IS_SHARED } from "./platform-backends.ts";

/** A calibration: what `describe` has returned, as it is stored. */
type Calibration = Readonly<Record<string, unknown>>;

/** The calibration of a version of a backend; times in milliseconds since the epoch. */
export interface CalibrationRecord {
  /** MAJOR.MINOR.PATCH. */
  readonly version: string;
  readonly madeAt: number;
  /** Null: it was not. */
  readonly retiredAt: number | null;
  readonly calibration: Calibration;
}

/** Whose backend, as the organisation uses it. */
interface BackendKey {
  readonly organisationId: string;
  readonly serviceKey: string;
}

/** Which calibrations; what is absent decides nothing. Milliseconds since the epoch. */
interface CalibrationFilter {
  readonly start: number | undefined;
  /** Those of this moment are left out. */
  readonly end: number | undefined;
  /** Those that are older than this version, MAJOR.MINOR.PATCH: many may be of one moment. */
  readonly before: string | undefined;
  readonly limit: number;
}

/** Calibrations: a backend has one for each of its versions, which never changes. */
export interface QuantumCalibrationStore {
  /** Of the version that runs a job of the organisation; null: it has none. */
  readonly findOfJob: (organisationId: string, id: string) => Promise<Calibration | null>;
  /** Of the version that ran new jobs at this time; null: none did, or it has none. */
  readonly findAt: (backend: BackendKey, at: number) => Promise<Calibration | null>;
  /** The newest first, MOST_BYTES at most but one at least; `isLast`: nothing older matches. Null: it has no version `before`. */
  readonly list: (
    backend: BackendKey,
    filter: CalibrationFilter,
  ) => Promise<{ readonly items: readonly CalibrationRecord[]; readonly isLast: boolean } | null>;
}

/** Of calibrations in one list. */
const MOST_BYTES = 1_000_000;

const CALIBRATION = `v.backend #> '{description,calibration}'`;

/** SQL: versions of the service $2 that the organisation $1 may know: all of its own; of one that is shared, those since then and the one that was the newest. */
const KNOWN = `(
    select w.*, lead(w.created_at) over (order by w.created_at, w.id) as next_at from version w
    where w.service_key = $2::uuid and w.backend is not null
  ) v join service s on s.key = v.service_key and (s.organisation_id = $1::uuid or ${IS_SHARED} and coalesce(v.next_at, 'infinity') > (
    select min(p.shared_at) from platform_backend p where p.service_key = s.key
  ))`;

const NO_NUMBER = { major: null, minor: null, patch: null };
const IS_BEFORE = "(k.major, k.minor, k.patch) = ($6::int, $7::int, $8::int)";

/** One more than is wanted says whether there are more; no further ones are read. The outermost row is there also where none is found. */
const LIST = `with known as materialized (
    select v.id, v.major, v.minor, v.patch, v.created_at, v.retired_at, ${CALIBRATION} is not null as is_one from ${KNOWN}
  ), page as (
    select k.* from known k
    where k.is_one and ($3::float8 is null or k.created_at >= to_timestamp($3 / 1000)) and ($4::float8 is null or k.created_at < to_timestamp($4 / 1000))
      and ($6::int is null or (k.created_at, k.id) < (select k.created_at, k.id from known k where ${IS_BEFORE}))
    order by k.created_at desc, k.id desc limit $5::int + 1
  ), sized as (
    select p.*, ${CALIBRATION} as calibration, row_number() over newest as place,
      row_number() over newest = 1 or row_number() over newest <= $5::int
        and sum(length((${CALIBRATION})::text)) over newest <= ${MOST_BYTES} as is_within
    from page p join version v on v.id = p.id window newest as (order by p.created_at desc, p.id desc)
  )
  select known.is as "isKnown", concat_ws('.', s.major, s.minor, s.patch) as version, ${selectMilliseconds("s.created_at")} as "madeAt",
    ${selectMilliseconds("s.retired_at")} as "retiredAt", case when s.is_within then s.calibration end as calibration, s.is_within as "isWithin"
  from (select $6::int is null or exists (select 1 from known k where ${IS_BEFORE}) as is) known left join sized s on true order by s.place`;

interface CalibrationRow extends CalibrationRecord {
  readonly isKnown: boolean;
  /** Null: the row says no more than `isKnown`. */
  readonly isWithin: boolean | null;
}

/** The same in PostgreSQL. */
export function createQuantumCalibrationStore(database: Database): QuantumCalibrationStore {
  return {
    findOfJob: async (organisationId, id) => {
      if (!isUuid(id)) return null;
      const [row] = await database.query<{ readonly calibration: Calibration | null }>({
        name: "quantum-calibration-of-job",
        text: `select ${CALIBRATION} as calibration from execution e join version v on v.id = e.version_id
          where ${lookUp("e", "$2::uuid", `e.owner_id = $1::uuid and e.priority = ${BACKEND_PRIORITY}`)}`,
        values: [organisationId, id],
        idempotent: true,
      });
      return row?.calibration ?? null;
    },
    findAt: async ({ organisationId, serviceKey }, at) => {
      const [row] = await database.query<{ readonly calibration: Calibration | null }>({
        text: `select ${CALIBRATION} as calibration from ${KNOWN}
          where v.created_at <= to_timestamp($3::float8 / 1000) and (v.retired_at is null or v.retired_at > to_timestamp($3::float8 / 1000))
          order by v.major desc, v.minor desc, v.patch desc limit 1`,
        values: [organisationId, serviceKey, at],
        idempotent: true,
      });
      return row?.calibration ?? null;
    },
    list: async ({ organisationId, serviceKey }, { start, end, before, limit }) => {
      const number = before === undefined ? NO_NUMBER : parseVersion(before);
      if (number === null) return null;
      const { major, minor, patch } = number;
      const rows = await database.query<CalibrationRow>({
        text: LIST,
        values: [organisationId, serviceKey, start ?? null, end ?? null, limit, major, minor, patch],
        idempotent: true,
      });
      if (rows[0]?.isKnown === false) return null;
      const items = rows.flatMap(({ isWithin, isKnown: _isKnown, ...record }) =>
        isWithin === true ? [record] : [],
      );
      return { items, isLast: !rows.some(({ isWithin }) => isWithin === false) };
    },
  };
}
