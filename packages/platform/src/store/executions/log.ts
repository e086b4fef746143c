import { formatTimestamp } from "@platform/contract/execution";
import type { ClaimKey } from "@platform/engine/store/execution-store";
import type { LogLine } from "@platform/engine/python/port/runtime";
import { MEGABYTE } from "@platform/engine/base/bytes";
import type { Database } from "../../postgres/database.ts";
import { concatenate, createBatcher } from "./batch.ts";
import type { Batcher } from "./batch.ts";
import { lookUp } from "./lookup.ts";

/*
 * Log lines are rendered once, when they are written: JSON objects joined by commas, to which reading only adds brackets.
 * Their commit need not be flushed (the server writes it within 0.6 s, or with the next durable commit, such as that of
 * the execution's end): a crash of the machine may lose the last lines, but no execution.
 */

interface Chunk {
  readonly claim: ClaimKey;
  readonly seq: number;
  readonly lines: Buffer;
}

/** Stores log lines of running executions. */
export interface LogWriter {
  /** Resolves when the lines are written, or dropped since the claim is no longer held. */
  readonly append: (claim: ClaimKey, lines: readonly LogLine[]) => Promise<void>;
  /** Resolves when everything that was appended to this execution is written, or could not be. */
  readonly drainExecution: (id: string) => Promise<void>;
  /** The same for all executions. */
  readonly drain: () => Promise<void>;
}

/** Writes lines in groups, one flush at a time. `onWritten`: lines of this execution were written, or dropped. */
export function createLogWriter(database: Database, onWritten: (id: string) => void): LogWriter {
  const nextSeq = createSequence();
  const pending = new Map<string, Promise<unknown>>();
  const batcher: Batcher<Chunk, true> = createBatcher({
    maxItems: 256,
    maxBytes: 4 * MEGABYTE,
    maxInFlight: 1,
    measureBytes: ({ lines }) => lines.byteLength,
    flush: async (chunks) => {
      const written = await insertChunks(database, chunks);
      for (const { claim } of chunks) onWritten(claim.id);
      return written;
    },
  });
  return {
    append: async (claim, lines) => {
      if (lines.length === 0) return;
      const chunks = renderChunks(lines).map((chunk) => ({ claim, seq: nextSeq(), lines: chunk }));
      const written = Promise.all(chunks.map(batcher.add));
      pending.set(claim.id, written);
      try {
        await written;
      } finally {
        if (pending.get(claim.id) === written) pending.delete(claim.id);
      }
    },
    // Flushes are in order, one at a time: when the last chunk is written, all before it are.
    drainExecution: async (id) => {
      await pending.get(id)?.catch(() => undefined);
    },
    drain: batcher.drain,
  };
}

/** Sequence numbers that increase within an execution: one worker writes an attempt, and later attempts begin later. */
function createSequence(): () => number {
  let last = 0;
  return () => (last = Math.max(last + 1, Date.now() * 1000));
}

/** Size at which a chunk ends. Pages of a log consist of whole chunks. */
const CHUNK_BYTES = 64 * 1024;

function renderChunks(lines: readonly LogLine[]): readonly Buffer[] {
  const chunks: Buffer[] = [];
  let texts: string[] = [];
  let length = 0;
  for (const { time, severity, message } of lines) {
    const text = JSON.stringify({ timestamp: formatTimestamp(time), severity, message });
    texts.push(text);
    length += text.length;
    if (length < CHUNK_BYTES) continue;
    chunks.push(Buffer.from(texts.join(",")));
    texts = [];
    length = 0;
  }
  return texts.length === 0 ? chunks : [...chunks, Buffer.from(texts.join(","))];
}

/**
 * Lines of a claim that is no longer held are dropped (the fence of finish.ts). A repeated flush leaves the rows that it has
 * already written. The commit need not be flushed, see above.
 */
const TEXT = `insert into execution_log (id, seq, lines)
  select i.id, i.seq, substr($7::bytea, i.start, i.length)
  from unnest($1::uuid[], $2::int[], $3::text[], $4::bigint[], $5::int[], $6::int[])
    as i (id, attempt, worker_id, seq, start, length)
  join execution e on ${lookUp("e", "i.id", "e.attempt = i.attempt and e.worker_id = i.worker_id and e.status = 'RUNNING'")}
  where (select set_config('synchronous_commit', 'off', true)) is not null
  on conflict do nothing`;

async function insertChunks(database: Database, chunks: readonly Chunk[]): Promise<readonly true[]> {
  const slices = concatenate(chunks.map(({ lines }) => lines));
  await database.query({
    name: "execution-append-log",
    text: TEXT,
    values: [
      chunks.map(({ claim }) => claim.id),
      chunks.map(({ claim }) => claim.attempt),
      chunks.map(({ claim }) => claim.workerId),
      chunks.map(({ seq }) => seq),
      slices.starts,
      slices.lengths,
      slices.bytes,
    ],
    idempotent: true,
  });
  return chunks.map(() => true);
}
