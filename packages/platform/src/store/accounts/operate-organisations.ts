import { isUuid } from "@platform/engine/base/uuid";
import type { Database } from "../../postgres/database.ts";
import { selectMilliseconds } from "../base/columns.ts";
import { cutPage, decodeCursor } from "../base/page.ts";
import type { Page, PageRequest } from "../base/page.ts";

/** An organisation as operators see it: numbers, and nothing of what it has. */
export interface OperatedOrganisation {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly isPersonal: boolean;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly members: number;
  readonly services: number;
  readonly applications: number;
  /** Bytes of the files in its data pools. */
  readonly poolBytes: number;
}

/** Which organisations are listed. */
export interface OrganisationFilter extends PageRequest {
  /** A part of the name or slug. */
  readonly q?: string | undefined;
}

/** All organisations, for operators of the platform. */
export interface OrganisationOperations {
  /** Newest first. */
  readonly list: (filter: OrganisationFilter) => Promise<Page<OperatedOrganisation>>;
}

/** The same in PostgreSQL. */
export function createOrganisationOperations(database: Database): OrganisationOperations {
  return { list: (filter) => listOrganisations(database, filter) };
}

/** Counts only for the rows of the page. */
const LIST = `with shown as materialized (
    select o.id, o.slug, o.name, o.personal_of, o.created_at from organisation o
    where o.deleted_at is null
      and ($1::float8 is null or (o.created_at, o.id) < (to_timestamp($1 / 1000)::timestamptz(3), $2::uuid))
      and ($3::text is null or position(lower($3) in o.slug) > 0 or position(lower($3) in lower(o.name)) > 0)
    order by o.created_at desc, o.id desc limit $4
  )
  select o.id, o.slug, o.name, o.personal_of is not null as "isPersonal", ${selectMilliseconds("o.created_at")} as "createdAt",
    (select count(*)::int from member m where m.organisation_id = o.id) as members,
    (select count(*)::int from service s where s.organisation_id = o.id) as services,
    (select count(*)::int from application a where a.organisation_id = o.id and a.deleted_at is null) as applications,
    (select coalesce(sum(f.bytes), 0)::float8 from pool_file f where f.organisation_id = o.id and f.ended_at is null) as "poolBytes"
  from shown o order by o.created_at desc, o.id desc`;

async function listOrganisations(
  database: Database,
  { q, cursor, limit }: OrganisationFilter,
): Promise<Page<OperatedOrganisation>> {
  const [createdAt, id] = decodeCursor(cursor, [(key) => /^\d{1,15}$/u.test(key), isUuid]) ?? [];
  const rows = await database.query<OperatedOrganisation>({
    text: LIST,
    values: [createdAt ?? null, id ?? null, q ?? null, limit + 1],
    idempotent: true,
  });
  return cutPage(rows, limit, (row) => [String(row.createdAt), row.id]);
}
