import type { ExecutionDigests } from "@platform/engine/store/digests";
import type { StoredFile } from "@platform/engine/content/result-store";
import type { PinnedInputs } from "@platform/engine/python/port/runtime";
import { isUuid } from "@platform/engine/base/uuid";
import type { Database } from "../../postgres/database.ts";
import { mayBeMoved } from "./kept.ts";
import { lookUp } from "./lookup.ts";
import { ANNOTATION, OUTPUT_POOL, PERSIST_TO, TRACE, WEBHOOK_URL } from "./create-statement.ts";
import { RESULT_NAME } from "./finish.ts";

/** The server hashes: megabytes of input and result need not be sent for it. Inputs do not move with kept executions. */
const describeDigests = (executions: string, results: string, inputs: string | null) => `select
    ${
      inputs === null
        ? `null as "inputHash", null as "inputBytes", null as "references"`
        : `encode(sha256(i.body), 'hex') as "inputHash", octet_length(i.body) as "inputBytes", i."references"`
    },
    encode(sha256(r.result), 'hex') as "resultHash", octet_length(r.result) as "resultBytes", r.metadata,
    case when r.has_output then (
      select jsonb_agg(jsonb_build_object('name', o.name, 'hash', o.hash, 'bytes', o.bytes) order by o.name)
      from execution_output o where o.execution_id = $1
    ) end as contents
  from ${executions} e left join ${results} r on r.id = $1
    ${inputs === null ? "" : `left join ${inputs} i on i.id = $1`}
  where ${lookUp("e", "$1::uuid", "e.owner_id = $2")}`;
const READ = {
  name: "execution-read-digests",
  text: describeDigests("execution", "execution_result", "execution_input"),
} as const;
const READ_KEPT = {
  name: "execution-read-kept-digests",
  text: describeDigests("kept_execution", "kept_result", null),
} as const;

interface DigestRow {
  readonly inputHash: string | null;
  readonly inputBytes: number | null;
  readonly references:
    | (PinnedInputs & {
        readonly [PERSIST_TO]?: unknown;
        readonly [OUTPUT_POOL]?: unknown;
        readonly [TRACE]?: unknown;
        readonly [WEBHOOK_URL]?: unknown;
        readonly [ANNOTATION]?: unknown;
      })
    | null;
  readonly resultHash: string | null;
  readonly resultBytes: number | null;
  readonly metadata: Buffer | null;
  readonly contents: readonly StoredFile[] | null;
}

/** See `ExecutionStore.readDigests`. */
export async function readDigests(
  database: Database,
  id: string,
  ownerId: string,
): Promise<ExecutionDigests | null> {
  if (!isUuid(id) || !isUuid(ownerId)) return null;
  for (const statement of mayBeMoved(id) ? [READ, READ_KEPT] : [READ]) {
    const [row] = await database.query<DigestRow>({ ...statement, values: [id, ownerId], idempotent: true });
    if (row !== undefined) return toDigests(row);
  }
  return null;
}

function toDigests({ contents, metadata, ...row }: DigestRow): ExecutionDigests {
  const { inputHash, inputBytes, resultHash, resultBytes } = row;
  const {
    [PERSIST_TO]: _target,
    [OUTPUT_POOL]: _pool,
    [TRACE]: _trace,
    [WEBHOOK_URL]: _url,
    [ANNOTATION]: _note,
    ...references
  } = row.references ?? {};
  const beside = contents?.find(({ name }) => name === RESULT_NAME);
  const stored = resultHash === null ? null : { hash: resultHash, bytes: resultBytes ?? 0 };
  return {
    input: inputHash === null ? null : { hash: inputHash, bytes: inputBytes ?? 0, references },
    result: beside === undefined ? stored : { hash: beside.hash, bytes: beside.bytes },
    files: contents?.filter((content) => content !== beside) ?? [],
    metadata,
  };
}
