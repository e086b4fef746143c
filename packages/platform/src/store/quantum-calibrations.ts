import { isUuid } from "@platform/engine/base/uuid";
import { BACKEND_PRIORITY } from "@platform/engine/store/kinds";
import type { Database } from "../postgres/database.ts";
import { selectMilliseconds } from "./base/columns.ts";
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
  readonly limit: number;
}

/** Calibrations: a backend has one for each of its versions, which never changes. */
export interface QuantumCalibrationStore {
  /** Of the version that runs a job of the organisation; null: it has none. */
  readonly findOfJob: (organisationId: string, id: string) => Promise<Calibration | null>;
  /** Of the version that ran new jobs at this time; null: none did, or it has none. */
  readonly findAt: (backend: BackendKey, at: number) => Promise<Calibration | null>;
  /** The newest first, MOST_BYTES at most but one at least; `isLast`: nothing older matches. */
  readonly list: (
    backend: BackendKey,
    filter: CalibrationFilter,
  ) => Promise<{ readonly items: readonly CalibrationRecord[]; readonly isLast: boolean }>;
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
    list: async ({ organisationId, serviceKey }, { start, end, limit }) => {
      const found = await database.query<CalibrationRecord & { readonly isWithin: boolean }>({
        // One more than is wanted says whether there are more.
        text: `select version, "madeAt", "retiredAt", case when "isWithin" then calibration end as calibration, "isWithin" from (
            select concat_ws('.', v.major, v.minor, v.patch) as version, ${selectMilliseconds("v.created_at")} as "madeAt",
              ${selectMilliseconds("v.retired_at")} as "retiredAt", ${CALIBRATION} as calibration,
              row_number() over newest = 1 or row_number() over newest <= $5::int
                and sum(length((${CALIBRATION})::text)) over newest <= ${MOST_BYTES} as "isWithin", row_number() over newest as place
            from ${KNOWN}
            where ${CALIBRATION} is not null and ($3::float8 is null or v.created_at >= to_timestamp($3 / 1000))
              and ($4::float8 is null or v.created_at < to_timestamp($4 / 1000))
            window newest as (order by v.created_at desc, v.id desc)
          ) c where place <= $5::int + 1 order by place`,
        values: [organisationId, serviceKey, start ?? null, end ?? null, limit],
        idempotent: true,
      });
      const items = found.flatMap(({ isWithin, ...record }) => (isWithin ? [record] : []));
      return { items, isLast: items.length === found.length };
    },
  };
}
