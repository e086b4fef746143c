import type { Database } from "../../postgres/database.ts";

/** What people call a version. */
export interface VersionName {
  /** Slug. */
  readonly organization: string;
  readonly service: string;
  /** `MAJOR.MINOR.PATCH`. */
  readonly version: string;
}

/** The names of these versions, of any organisation, by id; unknown ids are left out. */
export async function nameVersions(
  database: Database,
  ids: readonly string[],
): Promise<ReadonlyMap<string, VersionName>> {
  const rows = await database.query<VersionName & { readonly id: string }>({
    text: `select v.id, o.slug as organization, s.name as service, concat_ws('.', v.major, v.minor, v.patch) as version
      from version v join service s on s.key = v.service_key join organisation o on o.id = s.organisation_id
      where v.id = any ($1::uuid[])`,
    values: [ids],
    idempotent: true,
  });
  return new Map(rows.map(({ id, ...name }) => [id, name]));
}
