import { createUuidV7, isUuid } from "@platform/engine/base/uuid";
import type { Database, RunStatement } from "../../postgres/database.ts";
import { requireRoom } from "../base/bounds.ts";
import { selectMilliseconds } from "../base/columns.ts";
import { holdOrganisation } from "../base/hold-organisation.ts";
import { requireStorage } from "./pool-quota.ts";
import { WRITERS, holdPool } from "./pool-rights.ts";

/** A file with a part of an upload, which goes on to the start of the next one, or to what has been received. */
export interface UploadPart {
  /** Its name in the folder of parts. */
  readonly file: string;
  /** Of the content, in bytes. */
  readonly start: number;
}

/** An upload, whatever has become of it. */
export interface UploadRecord {
  readonly id: string;
  readonly poolId: string;
  readonly name: string;
  readonly mediaType: string;
  /** The header Upload-Metadata. */
  readonly metadata: string;
  /** Of the whole content. */
  readonly bytes: number;
  /** What the client says of the content, in hex; null: nothing. */
  readonly sha256: string | null;
  /** Bytes that have arrived and last. */
  readonly received: number;
  /** SHA-256 of the whole content in hex; null: not known yet. */
  readonly hash: string | null;
  /** Names the folder of the parts. */
  readonly place: string;
  readonly parts: readonly UploadPart[];
  /** The request that writes; null: none, and the last one has closed its part. */
  readonly writer: string | null;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  readonly isExpired: boolean;
  readonly isStored: boolean;
  /** Null: it is not stored, or was deleted since. */
  readonly fileId: string | null;
}

/** One upload of one user. */
export interface UploadKey {
  readonly organisationId: string;
  readonly userId: string;
  readonly id: string;
}

/** An upload to begin. */
export interface NewUpload
  extends
    Omit<UploadKey, "id">,
    Pick<UploadRecord, "poolId" | "name" | "mediaType" | "metadata" | "bytes" | "sha256" | "place"> {}

/** A request that writes to an upload. */
export interface UploadWriter {
  readonly id: string;
  readonly writer: string;
}

/** Uploads of data pools. What names a writer does nothing, and says so, where another one has taken over. */
export interface UploadStore {
  /** Null: there is no such pool. @throws Problem QUOTA_EXCEEDED, FORBIDDEN */
  readonly create: (upload: NewUpload) => Promise<UploadRecord | null>;
  /** Null: this user has no such upload, or it was removed. */
  readonly find: (key: UploadKey) => Promise<UploadRecord | null>;
  /**
   * Takes the upload over where it is open and has just so much. The record has the former writer. Null: it has not, or is not open.
   */
  readonly claim: (key: UploadKey, writer: string, received: number) => Promise<UploadRecord | null>;
  /** False: another writer has taken over. */
  readonly setParts: (writer: UploadWriter, parts: readonly UploadPart[]) => Promise<boolean>;
  /** So much lasts. False likewise. */
  readonly advance: (writer: UploadWriter, received: number) => Promise<boolean>;
  /** False likewise. */
  readonly setHash: (writer: UploadWriter, hash: string) => Promise<boolean>;
  /** The part of the writer is closed. */
  readonly release: (writer: UploadWriter) => Promise<void>;
  /** Removes an upload that is not stored; `writer`: only where this one still writes. Null: there is none. */
  readonly delete: (key: UploadKey, writer?: string) => Promise<UploadRecord | null>;
  /** Those of these files that have a part of an open upload. */
  readonly findNeeded: (files: readonly string[]) => Promise<ReadonlySet<string>>;
}

/** An upload expires so long after something has arrived, and so long after it was begun. */
const EXPIRES = "least(now() + interval '1 day', created_at + interval '7 days')";

const COLUMNS = `u.id, u.pool_id as "poolId", u.name, u.media_type as "mediaType", u.metadata, u.bytes::float8 as bytes, u.sha256,
  u.received::float8 as received, u.hash, u.place, u.parts, u.writer, ${selectMilliseconds("u.expires_at")} as "expiresAt",
  u.expires_at <= now() and u.stored_at is null as "isExpired", u.stored_at is not null as "isStored", u.file_id as "fileId"`;

const OWN = "id = $1 and organisation_id = $2 and created_by = $3";

/** The uploads in PostgreSQL. `quotaBytes`: what files and open uploads of one organisation may take together. */
export function createUploadStore(database: Database, quotaBytes: number): UploadStore {
  const change = async (
    { id, writer }: UploadWriter,
    set: string,
    value: string | number,
  ): Promise<boolean> => {
    const rows = await database.query({
      text: `update pool_upload set ${set} where id = $1 and writer = $2 and stored_at is null returning id`,
      values: [id, writer, value],
      idempotent: true,
    });
    return rows.length > 0;
  };
  return {
    create: (upload) => database.transaction((run) => insertUpload(run, upload, quotaBytes)),
    find: (key) => findUpload(database.query, key),
    claim: (key, writer, received) => claim(database, key, { writer, received }),
    setParts: (writer, parts) => change(writer, "parts = $3::jsonb", JSON.stringify(parts)),
    advance: (writer, received) => change(writer, `received = $3, expires_at = ${EXPIRES}`, received),
    setHash: (writer, hash) => change(writer, "hash = $3", hash),
    release: async ({ id, writer }) => {
      await database.query({
        text: "update pool_upload set writer = null where id = $1 and writer = $2",
        values: [id, writer],
        idempotent: true,
      });
    },
    delete: (key, writer) => deleteUpload(database, key, writer ?? null),
    findNeeded: (files) => findNeeded(database, files),
  };
}

async function deleteUpload(
  database: Database,
  { id, organisationId, userId }: UploadKey,
  writer: string | null,
): Promise<UploadRecord | null> {
  if (!isUuid(id)) return null;
  const [row] = await database.query<UploadRecord>({
    text: `delete from pool_upload u where u.id = $1 and u.organisation_id = $2 and u.created_by = $3 and u.stored_at is null
      and ($4::uuid is null or u.writer = $4) returning ${COLUMNS}`,
    values: [id, organisationId, userId, writer],
  });
  return row ?? null;
}

async function findNeeded(database: Database, files: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await database.query<{ readonly file: string }>({
    text: `select part->>'file' as file from pool_upload u, jsonb_array_elements(u.parts) part
      where u.stored_at is null and u.expires_at > now() and part->>'file' = any($1::text[])`,
    values: [files],
    idempotent: true,
  });
  return new Set(rows.map(({ file }) => file));
}

async function insertUpload(
  run: RunStatement,
  upload: NewUpload,
  quotaBytes: number,
): Promise<UploadRecord | null> {
  const { organisationId, userId, poolId, name, mediaType, metadata, bytes, sha256, place } = upload;
  // Before the pool, as when the organisation is deleted.
  if (!(await holdOrganisation(run, organisationId))) return null;
  const pool = await holdPool(run, upload, WRITERS);
  if (pool === null) return null;
  await requireRoom(run, "uploads", {
    text: "from pool_upload where organisation_id = $1 and stored_at is null and expires_at > now()",
    values: [organisationId],
  });
  const ownerId = pool.organisationId;
  await requireStorage(run, ownerId, { bytes, quotaBytes, isOwn: pool.role === "owner" });
  const id = createUuidV7();
  await run({
    text: `insert into pool_upload (id, organisation_id, pool_id, owner_id, created_by, name, media_type, metadata, bytes, sha256, place, expires_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, now() + interval '1 day')`,
    values: [id, organisationId, poolId, ownerId, userId, name, mediaType, metadata, bytes, sha256, place],
  });
  return await findUpload(run, { id, organisationId, userId });
}

async function findUpload(
  query: RunStatement,
  { id, organisationId, userId }: UploadKey,
): Promise<UploadRecord | null> {
  if (!isUuid(id)) return null;
  const [row] = await query<UploadRecord>({
    text: `select ${COLUMNS} from pool_upload u where ${OWN}`,
    values: [id, organisationId, userId],
    idempotent: true,
  });
  return row ?? null;
}

async function claim(
  database: Database,
  { id, organisationId, userId }: UploadKey,
  { writer, received }: { readonly writer: string; readonly received: number },
): Promise<UploadRecord | null> {
  if (!isUuid(id)) return null;
  const [row] = await database.query<UploadRecord>({
    text: `with former as (select writer from pool_upload where ${OWN} for update)
      update pool_upload u set writer = $4 from former
      where u.id = $1 and u.received = $5 and u.stored_at is null and u.expires_at > now()
      returning ${COLUMNS.replace("u.writer", "former.writer")}`,
    values: [id, organisationId, userId, writer, received],
  });
  return row ?? null;
}

/**
 * Gives up the open uploads to a pool whose row is held: those of this organisation, which may not write to it any more, or all. They
 * would count for the owner, who does not see them. Their parts are swept.
 */
export async function giveUpUploads(
  run: RunStatement,
  poolId: string,
  organisationId: string | null,
): Promise<void> {
  await run({
    text: `delete from pool_upload u using data_pool p where p.id = $1 and u.pool_id = p.id and u.owner_id = p.organisation_id
      and u.stored_at is null and ($2::uuid is null or u.organisation_id = $2)`,
    values: [poolId, organisationId],
  });
}

/**
 * The upload has become this file, in the transaction that stores it; it does not count as promised any more. False: another writer has
 * taken over.
 */
export async function endUpload(
  run: RunStatement,
  { id, writer }: UploadWriter,
  fileId: string,
): Promise<boolean> {
  const rows = await run({
    text: `update pool_upload set file_id = $3, stored_at = now(), writer = null, parts = '[]'
      where id = $1 and writer = $2 and stored_at is null returning id`,
    values: [id, writer, fileId],
  });
  return rows.length > 0;
}
