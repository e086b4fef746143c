import type { Database } from "../../postgres/database.ts";

/** What the results above 1 MB of an organisation and the files of its results take together, as long as they are kept. Equal content counts each time. */
export async function sumOutputs(database: Pick<Database, "query">, organisationId: string): Promise<number> {
  const [row] = await database.query<{ readonly bytes: number }>({
    name: "output-sum",
    text: "select coalesce(sum(bytes), 0)::float8 as bytes from execution_output where organisation_id = $1",
    values: [organisationId],
    idempotent: true,
  });
  return row?.bytes ?? 0;
}
