import { isFinal } from "@platform/contract/execution";
import type { ExecutionStatus } from "@platform/contract/execution";
import { LOG_PAGE_BYTES } from "@platform/contract/limits";
import type { LogPage } from "@platform/engine/store/execution-store";
import { isUuid } from "@platform/engine/base/uuid";
import type { Database } from "../../postgres/database.ts";
import { decodeCursor, encodeCursor } from "../base/page.ts";
import { mayBeMoved } from "./kept.ts";
import { lookUp } from "./lookup.ts";

/** Chunks in a page at most: a program that prints seldom fills each chunk with a single line. */
const MAX_CHUNKS = 1000;

interface ChunkRow {
  readonly status: ExecutionStatus;
  /** Null, like the next two, in the single row of a page without chunks. */
  readonly seq: string | null;
  readonly lines: Buffer | null;
  readonly isLast: boolean | null;
}

/** Which page to read: see `ExecutionStore.readLog`. */
interface LogReading {
  readonly id: string;
  readonly ownerId: string;
  readonly cursor?: string | undefined;
  readonly pageBytes?: number | undefined;
}

/** Chunks are written in the order of `seq`, one flush at a time, so no chunk appears before a cursor later on. */
const describeRead = (
  executions: string,
  logs: string,
) => `select e.status, l.seq::text as seq, l.lines, l.following is null as "isLast"
  from ${executions} e left join lateral (
    select c.*, row_number() over by_seq as position, lead(c.seq) over by_seq as following,
      sum(octet_length(c.lines)) over by_seq - octet_length(c.lines) as bytes_before
    from (
      select seq, lines from ${logs} where id = $1 and seq > $3 order by seq limit ${MAX_CHUNKS + 1}
    ) c window by_seq as (order by c.seq)
  ) l on l.bytes_before < $4 and l.position <= ${MAX_CHUNKS}
  where ${lookUp("e", "$1::uuid", "e.owner_id = $2")}
  order by l.seq`;

/** `ExecutionStore.readLog` for PostgreSQL. @throws Problem INVALID_INPUT for an invalid cursor */
export async function readLog(
  database: Database,
  { id, ownerId, cursor, pageBytes = LOG_PAGE_BYTES }: LogReading,
): Promise<LogPage | null> {
  const after = decodePosition(cursor);
  if (!isUuid(id) || !isUuid(ownerId)) return null;
  const rows = await readChunks(database, id, [id, ownerId, after, pageBytes]);
  const last = rows.at(-1);
  if (last === undefined) return null;
  const isComplete = isFinal(last.status) && (last.seq === null || last.isLast === true);
  const position = encodeCursor([last.seq ?? after]);
  return {
    lines: joinChunks(rows.flatMap(({ lines }) => (lines === null ? [] : [lines]))),
    nextCursor: isComplete ? null : position,
    position,
  };
}

/** The last chunk that was read; missing: none. @throws Problem INVALID_INPUT */
export function decodePosition(cursor: string | undefined): string {
  const [after = "0"] = decodeCursor(cursor, [isSeq]) ?? [];
  return after;
}

/** Where they are, and, for what may have been moved, where they are then: each has all lines of an execution, or none. */
const READ = { name: "execution-read-log", text: describeRead("execution", "execution_log") } as const;
const READ_MOVED = [
  READ,
  { name: "execution-read-kept-log", text: describeRead("execution", "kept_log") },
  { name: "execution-read-log-of-kept", text: describeRead("kept_execution", "kept_log") },
] as const;

/** Empty: the owner has no such execution. */
async function readChunks(
  database: Database,
  id: string,
  values: readonly unknown[],
): Promise<readonly ChunkRow[]> {
  let found: readonly ChunkRow[] = [];
  for (const statement of mayBeMoved(id) ? READ_MOVED : [READ]) {
    const rows = await database.query<ChunkRow>({ ...statement, values, idempotent: true });
    if (rows.length > 0) found = rows;
    if (rows.some(({ seq }) => seq !== null)) break;
  }
  return found;
}

function isSeq(key: string): boolean {
  return /^\d{1,18}$/.test(key);
}

function joinChunks(chunks: readonly Buffer[]): Uint8Array {
  const parts = chunks.flatMap((chunk, index) => (index === 0 ? [chunk] : [COMMA, chunk]));
  return Buffer.concat([Buffer.from("["), ...parts, Buffer.from("]")]);
}

const COMMA = Buffer.from(",");
