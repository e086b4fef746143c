import { isUuid } from "@platform/engine/base/uuid";
import type { Database } from "../../postgres/database.ts";

/** Lines of one answer. */
const MAX_LOG_LINES = 5000;

/** Reads lines of a build of the organisation. */
export type ReadBuildLog = (
  organisationId: string,
  buildId: string,
  offset: number,
) => Promise<{ readonly lines: readonly string[]; readonly nextOffset: number }>;

/** `BuildStore.readLog` for PostgreSQL. */
export async function readLog(
  database: Database,
  organisationId: string,
  buildId: string,
  offset: number,
): Promise<{ lines: readonly string[]; nextOffset: number }> {
  if (!isUuid(buildId)) return { lines: [], nextOffset: offset };
  const rows = await database.query<{ text: string }>({
    text: `select l.text from build_log l join build b on b.id = l.build_id join service s on s.key = b.service_key
      where l.build_id = $1 and s.organisation_id = $2 and l.line >= $3 order by l.line limit ${MAX_LOG_LINES}`,
    values: [buildId, organisationId, offset],
    idempotent: true,
  });
  return { lines: rows.map(({ text }) => text), nextOffset: offset + rows.length };
}
