import type { LogEntry } from "@platform/contract/execution";
import { isUuid } from "@platform/engine/base/uuid";
import { LOG_PAGE_BYTES } from "@platform/contract/limits";
import type { Database } from "../../postgres/database.ts";
import { mayBeMoved } from "../executions/kept.ts";
import { lookUp } from "../executions/lookup.ts";
import { IS_OF_ORGANISATION, NAMES } from "./scope.ts";

/** Which execution, and who asks: every statement names both. */
export interface ContentKey {
  readonly organisationId: string;
  readonly id: string;
}

const OWN = "(e.owner_id = $1::uuid or a.organisation_id = $1::uuid)";

const READ_INPUT = `select i.body from execution e left join subscription b on b.id = e.owner_id
    left join application a on a.id = b.application_id join execution_input i on ${lookUp("i", "$2::uuid")}
  where ${lookUp("e", "$2::uuid", OWN)}`;

/** The body that an execution of the organisation's own was started with; null: it is not kept, or not the organisation's own. */
export async function readInput(
  database: Pick<Database, "query">,
  { organisationId, id }: ContentKey,
): Promise<Uint8Array | null> {
  if (!isUuid(id)) return null;
  const [row] = await database.query<{ readonly body: Buffer }>({
    name: "history-input",
    text: READ_INPUT,
    values: [organisationId, id],
    idempotent: true,
  });
  return row?.body ?? null;
}

/** A line of a log. Lines are stored in chunks; `index` is the place in its chunk, from 0. */
interface HistoryLine extends LogEntry {
  readonly seq: string;
}

/** A place in a log, as `seq` of a line has it. */
interface Place {
  readonly chunk: string;
  readonly index: number;
}

/** Which lines: those behind a place, or the last ones. */
export type LineWish = { readonly after: string | undefined } | { readonly tail: number };

/** Lines, and where to go on; null: nothing is behind them at present. */
export interface HistoryLines {
  readonly lines: readonly HistoryLine[];
  /** Behind the last line; without lines, where it was asked for. */
  readonly next: string;
  /** Whether there are more behind them already. */
  readonly isMore: boolean;
}

/** Chunks that one answer is of, at most; of the last lines, each may be a chunk of its own. */
const MOST_CHUNKS = 1_000;

/** Where chunks are; both while a day is being closed. */
const listTables = (id: string) => (mayBeMoved(id) ? ["execution_log", "kept_log"] : ["execution_log"]);

const IS_HERE = (executions: string) =>
  `exists (select 1 from ${executions} e ${NAMES} where ${lookUp("e", "$2::uuid", IS_OF_ORGANISATION)})`;

/** Cut where the page is full; the first chunk is always there. */
function describeChunks(id: string, order: "asc" | "desc"): string {
  const isOurs = mayBeMoved(id)
    ? `(${IS_HERE("execution")} or ${IS_HERE("kept_execution")})`
    : IS_HERE("execution");
  const parts = listTables(id).map(
    (table) =>
      `(select seq, lines from ${table} where id = $2::uuid and seq >= $3::bigint order by seq ${order} limit $4)`,
  );
  return `select seq::text as seq, lines from (
      select c.*, sum(octet_length(c.lines)) over (order by c.seq ${order}) - octet_length(c.lines) as before
      from (select distinct on (seq) * from (${parts.join(" union all ")}) c order by seq ${order}) c
    ) c where before < ${LOG_PAGE_BYTES} and ${isOurs} order by seq ${order} limit $4`;
}

interface Chunk {
  readonly seq: string;
  readonly lines: Buffer;
}

/** Lines of the log of an execution that concerns the organisation. Who may read them is decided before. */
export async function readLines(
  database: Pick<Database, "query">,
  { organisationId, id }: ContentKey,
  wish: LineWish,
): Promise<HistoryLines> {
  const isTail = "tail" in wish;
  const place = readPlace(isTail ? undefined : wish.after);
  const chunks = await database.query<Chunk>({
    text: describeChunks(id, isTail ? "desc" : "asc"),
    values: [organisationId, id, place.chunk, isTail ? wish.tail : MOST_CHUNKS],
    idempotent: true,
  });
  const all = (isTail ? chunks.toReversed() : chunks).flatMap(splitChunk);
  const lines = isTail ? all.slice(-wish.tail) : all.filter((line) => isBehind(line, place));
  const last = chunks.at(isTail ? 0 : -1)?.seq ?? place.chunk;
  return {
    lines: lines.map(({ chunk: _chunk, index: _index, ...line }) => line),
    next: lines.at(-1)?.seq ?? formatPlace(place),
    isMore: !isTail && (await hasMore(database, { organisationId, id }, last)),
  };
}

async function hasMore(
  database: Pick<Database, "query">,
  { id }: ContentKey,
  last: string,
): Promise<boolean> {
  const parts = listTables(id).map(
    (table) => `(select 1 from ${table} where id = $1::uuid and seq > $2::bigint limit 1)`,
  );
  const rows = await database.query({
    text: parts.join(" union all "),
    values: [id, last],
    idempotent: true,
  });
  return rows.length > 0;
}

/** What the worker has rendered (executions/log.ts): JSON objects, joined by commas. */
function splitChunk({ seq: chunk, lines }: Chunk): readonly (HistoryLine & Place)[] {
  const entries = JSON.parse(`[${lines.toString()}]`) as readonly LogEntry[];
  return entries.map((entry, index) => ({ ...entry, seq: formatPlace({ chunk, index }), chunk, index }));
}

function isBehind({ chunk, index }: Place, place: Place): boolean {
  return chunk !== place.chunk || index > place.index;
}

/** Before all lines: of no chunk. */
function readPlace(text: string | undefined): Place {
  const [chunk = "0", index] = text?.split("-") ?? [];
  return { chunk: BigInt(chunk).toString(), index: index === undefined ? -1 : Number(index) };
}

function formatPlace({ chunk, index }: Place): string {
  return index < 0 ? chunk : `${chunk}-${index}`;
}
