import { readStoredSchema } from "@platform/engine/input-schema/bounds";
import { isUuid } from "@platform/engine/base/uuid";
import type { Database } from "../../postgres/database.ts";
import { formatVersion, parseVersion, selectRequester } from "../base/columns.ts";
import type { VersionNumber } from "../base/columns.ts";
import { readExact } from "../base/exact.ts";
import type { ExampleInput, VersionRecord } from "./versions.ts";

/** The version with the next lower number, whether or not it is live. */
export interface FormerVersion {
  readonly version: string;
  readonly inputSchema: VersionRecord["inputSchema"];
}

/** What is shown of a version besides what lists have. */
export interface VersionDetails {
  /** These three with all digits of their numbers (`ExactNumber`): to be shown, and not to be worked with. */
  readonly exampleInput: ExampleInput | null;
  readonly inputSchema: VersionRecord["inputSchema"];
  readonly outputSchema: VersionRecord["outputSchema"];
  /** Canonical text of what was installed; null: it is not known. */
  readonly requirements: string | null;
  /** Of the interpreter; null: it is not known. */
  readonly python: string | null;
  /** Of the archive; null: it is not known. */
  readonly sizeBytes: number | null;
  /** Name of the user who deployed it; null: there is no such user any more. */
  readonly createdBy: string | null;
  readonly former: FormerVersion | null;
}

interface Row extends Omit<VersionDetails, "former" | "exampleInput" | "inputSchema" | "outputSchema"> {
  readonly exampleInput: string | null;
  readonly inputSchema: string | null;
  readonly outputSchema: string | null;
  readonly former: (VersionNumber & Pick<FormerVersion, "inputSchema">) | null;
}

/** SQL: the version with the next lower number than that of a row `v` of `version`. */
const FORMER = `from version f where f.service_key = v.service_key and (f.major, f.minor, f.patch) < (v.major, v.minor, v.patch)
          order by f.major desc, f.minor desc, f.patch desc limit 1`;

/** The version before each of these versions of the organisation, by id; none for the lowest of a service. */
export async function listFormerVersions(
  database: Database,
  organisationId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, FormerVersion>> {
  const rows = await database.query<
    VersionNumber & Pick<FormerVersion, "inputSchema"> & { readonly id: string }
  >({
    text: `select v.id, f.* from version v join service s on s.key = v.service_key
      cross join lateral (select f.major, f.minor, f.patch, f.input_schema as "inputSchema" ${FORMER}) f
      where s.organisation_id = $1 and v.id = any ($2::uuid[])`,
    values: [organisationId, ids],
    idempotent: true,
  });
  return new Map(rows.map((row) => [row.id, toFormer(row)]));
}

function toFormer(row: VersionNumber & Pick<FormerVersion, "inputSchema">): FormerVersion {
  return { version: formatVersion(row), inputSchema: readStoredSchema(row.inputSchema) };
}

/** Null: the organisation has no such version. */
export async function findVersionDetails(
  database: Database,
  organisationId: string,
  { serviceKey, version }: Pick<VersionRecord, "serviceKey" | "version">,
): Promise<VersionDetails | null> {
  const number = parseVersion(version);
  if (number === null || !isUuid(serviceKey)) return null;
  const [row] = await database.query<Row>({
    text: `select v.example_input::text as "exampleInput", v.input_schema::text as "inputSchema", v.output_schema::text as "outputSchema",
        v.requirements, v.python, o.bytes::float8 as "sizeBytes",
        (select ${selectRequester("b")} from build b
          where b.service_key = v.service_key and b.major = v.major and b.minor = v.minor and b.patch = v.patch and b.status = 'SUCCEEDED'
          order by b.position desc limit 1) as "createdBy",
        (select json_build_object('major', f.major, 'minor', f.minor, 'patch', f.patch, 'inputSchema', f.input_schema)
          ${FORMER}) as former
      from version v join service s on s.key = v.service_key left join object o on o.hash = v.archive_hash
      where v.service_key = $1 and s.organisation_id = $2 and v.major = $3 and v.minor = $4 and v.patch = $5`,
    values: [serviceKey, organisationId, number.major, number.minor, number.patch],
    idempotent: true,
  });
  if (row === undefined) return null;
  const { former, ...details } = row;
  return {
    ...details,
    exampleInput: readExact(details.exampleInput) as ExampleInput | null,
    inputSchema: readStoredSchema(readExact(details.inputSchema)),
    outputSchema: readStoredSchema(readExact(details.outputSchema)),
    former: former && toFormer(former),
  };
}
