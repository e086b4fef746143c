import { createHash } from "node:crypto";
import type { Database } from "../../postgres/database.ts";
import { selectMilliseconds } from "../base/columns.ts";
import { cutPage, decodeCursor, encodeCursor } from "../base/page.ts";
import type { Page, PageRequest } from "../base/page.ts";
import { appendEntry } from "./trail.ts";
import type { NewAuditEntry } from "./trail.ts";

/** An entry as it is stored. */
export interface AuditRecord {
  readonly organisationId: string;
  /** From 1, without gaps. */
  readonly sequence: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly actorKind: NewAuditEntry["actorKind"];
  readonly actorId: string | null;
  /** The user's address at that time. */
  readonly actorName: string;
  readonly credential: string | null;
  readonly action: string;
  /** Ids, the outer ones first, separated by slashes; null: the action has no single target. */
  readonly target: string | null;
  readonly outcome: NewAuditEntry["outcome"];
  readonly code: string | null;
  readonly ip: string;
  /** JSON text, as it is hashed. */
  readonly changes: string;
  /** SHA-256 in hexadecimal. */
  readonly hash: string;
}

/** Which entries are listed; all conditions hold. Times in milliseconds since the epoch. */
interface AuditFilter extends PageRequest {
  /** Id or address of the user. */
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  /** What comes before the dot in the action. */
  readonly targetType?: string | undefined;
  /** One of the ids in the target. */
  readonly targetId?: string | undefined;
  /** Then or later. */
  readonly after?: number | undefined;
  /** Earlier. */
  readonly before?: number | undefined;
}

/** What a part of a log turned out to be. */
interface Verification {
  /** How many entries were compared. */
  readonly checked: number;
  /** Number of the first entry that is missing or not as it was written; null: none of these. */
  readonly firstBroken: string | null;
  /** Where to go on; null: this was the end. */
  readonly nextCursor: string | null;
}

/** The audit logs of organisations. */
export interface AuditLog {
  /** Writes an entry that no change takes with it. */
  readonly append: (entry: NewAuditEntry) => Promise<void>;
  /** Newest first. A page with a filter looks at `SCANNED` entries, and may be short, or empty, with more behind it. */
  readonly list: (organisationId: string, filter: AuditFilter) => Promise<Page<AuditRecord>>;
  /** Computes the hashes of one part again, from the first entry on, and compares the last one with the chain's. */
  readonly verify: (organisationId: string, cursor: string | undefined) => Promise<Verification>;
}

const PART = 1_000;
/** One page of a filtered list looks at so many entries: a log has no end, and a filter may find nothing in it. */
export const SCANNED = 20_000;
const GENESIS = "0".repeat(64);
const DIGITS = /^\d{1,18}$/u;
const HASH = /^[0-9a-f]{64}$/u;

const COLUMNS = `organisation_id as "organisationId", e.sequence::text, ${selectMilliseconds("at")} as at,
  actor_kind as "actorKind", actor_id as "actorId", actor_name as "actorName", credential, action, target, outcome, code, ip,
  changes, encode(hash, 'hex') as hash`;

/** The logs in PostgreSQL. */
export function createAuditLog(database: Database): AuditLog {
  return {
    append: (entry) => appendEntry(database.query, entry),
    list: (organisationId, filter) => listEntries(database, organisationId, filter),
    verify: (organisationId, cursor) => verifyPart(database, organisationId, cursor),
  };
}

async function listEntries(
  database: Database,
  organisationId: string,
  filter: AuditFilter,
): Promise<Page<AuditRecord>> {
  const { actor, action, targetType, targetId, after, limit } = filter;
  const [cursor] = decodeCursor(filter.cursor, [(key) => DIGITS.test(key)]) ?? [];
  const before =
    cursor === undefined ? (await readEnd(database, organisationId)).sequence + 1n : BigInt(cursor);
  const lowest = before - BigInt(SCANNED);
  const rows = await database.query<AuditRecord>({
    text: `select ${COLUMNS} from audit_entry e
      where organisation_id = $1 and sequence < $2 and sequence >= $10
        and ($3::text is null or actor_id::text = lower($3) or actor_name = lower($3))
        and ($4::text is null or action = $4)
        and ($5::text is null or split_part(action, '.', 1) = $5)
        and ($6::text is null or $6 = any (string_to_array(target, '/')))
        and ($7::float8 is null or at >= to_timestamp($7 / 1000)) and ($8::float8 is null or at < to_timestamp($8 / 1000))
      order by e.sequence desc limit $9`,
    values: [
      organisationId,
      String(before),
      actor ?? null,
      action ?? null,
      targetType ?? null,
      targetId ?? null,
      after ?? null,
      filter.before ?? null,
      limit + 1,
      String(lowest),
    ],
    idempotent: true,
  });
  const { items, nextCursor } = cutPage(rows, limit, (row) => [row.sequence]);
  return { items, nextCursor: nextCursor ?? (lowest > 1n ? encodeCursor([String(lowest)]) : null) };
}

/** Where a verification has come to: the last entry that was as it should be. */
interface Position {
  readonly sequence: bigint;
  readonly hash: string;
}

async function verifyPart(
  database: Database,
  organisationId: string,
  cursor: string | undefined,
): Promise<Verification> {
  const from = readPosition(cursor);
  // Before the entries: those that are added meanwhile are beyond it.
  const end = await readEnd(database, organisationId);
  const entries = await database.query<AuditRecord>({
    text: `select ${COLUMNS} from audit_entry e where organisation_id = $1 and sequence > $2 order by e.sequence limit $3`,
    values: [organisationId, String(from.sequence), PART],
    idempotent: true,
  });
  let last = from;
  for (const [index, entry] of entries.entries()) {
    const next = last.sequence + 1n;
    const isWhole = BigInt(entry.sequence) === next && hashEntry(last.hash, entry) === entry.hash;
    const isEnd = next === end.sequence;
    if (!isWhole || (isEnd && entry.hash !== end.hash))
      return { checked: index, firstBroken: String(next), nextCursor: null };
    last = { sequence: next, hash: entry.hash };
  }
  const isMore = entries.length === PART;
  if (!isMore && last.sequence < end.sequence)
    return { checked: entries.length, firstBroken: String(last.sequence + 1n), nextCursor: null };
  const nextCursor = isMore ? encodeCursor([String(last.sequence), last.hash]) : null;
  return { checked: entries.length, firstBroken: null, nextCursor };
}

function readPosition(cursor: string | undefined): Position {
  const keys = decodeCursor(cursor, [(key) => DIGITS.test(key), (key) => HASH.test(key)]);
  const [sequence = "0", hash = GENESIS] = keys ?? [];
  return { sequence: BigInt(sequence), hash };
}

async function readEnd(database: Database, organisationId: string): Promise<Position> {
  const [row] = await database.query<{ sequence: string; hash: string }>({
    text: "select sequence::text, encode(hash, 'hex') as hash from audit_chain where organisation_id = $1",
    values: [organisationId],
    idempotent: true,
  });
  return row === undefined ? { sequence: 0n, hash: GENESIS } : { ...row, sequence: BigInt(row.sequence) };
}

/** The hash of an entry after the former one, both in hexadecimal; the same as `hash_audit_entry` of the database computes. */
function hashEntry(former: string, entry: AuditRecord): string {
  const parts = [
    entry.organisationId,
    entry.sequence,
    String(entry.at),
    entry.actorKind,
    entry.actorId,
    entry.actorName,
    entry.credential,
    entry.action,
    entry.target,
    entry.outcome,
    entry.code,
    entry.ip,
    entry.changes,
  ];
  const text = parts.map((part) => (part === null ? "-," : `${Buffer.byteLength(part)}:${part},`)).join("");
  return createHash("sha256").update(former, "hex").update(text).digest("hex");
}
