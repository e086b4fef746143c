import type { FileReference } from "@platform/contract/execution";
import { isUuid } from "@platform/engine/base/uuid";
import type { Owner } from "@platform/engine/store/owner";
import type { Database } from "../../postgres/database.ts";

/** A file that an execution may read. */
export interface ReferredFile {
  /** Names the object. */
  readonly hash: string;
  readonly bytes: number;
  /** Whether its content is one JSON object; null: nobody has looked. */
  readonly form: "object" | "other" | null;
  /** What it is instead, of `other`. */
  readonly formDetail: string | null;
}

/** A file of a data pool that an execution may read, or such a pool that has none. */
type ListedFile = { readonly poolId: string } & (
  | {
      readonly fileId: string;
      readonly name: string;
      readonly sha256: string;
      readonly bytes: number;
    }
  | { readonly fileId: null }
);

/** What references lead to. */
export interface ReferenceStore {
  /** Null: there is no such file, or the owner may not read it. */
  readonly find: (reference: FileReference, owner: Owner) => Promise<ReferredFile | null>;
  /** All files of those pools that the owner may read, in no order, of one moment; no more than `limit` rows. */
  readonly listFiles: (
    poolIds: readonly string[],
    owner: Owner,
    limit: number,
  ) => Promise<readonly ListedFile[]>;
  /** Keeps what was found of a content, for all who refer to it. */
  readonly setForm: (
    hash: string,
    form: { readonly isObject: boolean; readonly detail: string | null },
  ) => Promise<void>;
}

/** SQL: whether the owner of an execution may read the pool `p`. `organisation`: null for a subscription, and the other way round. */
const mayRead = (organisation: string, subscription: string): string => `(p.organisation_id = ${organisation}
      or exists (select 1 from data_pool_share s where s.pool_id = p.id and s.organisation_id = ${organisation})
      or exists (select 1 from data_pool_grant g join subscription b on b.application_id = g.application_id
        where g.pool_id = p.id and b.id = ${subscription}))`;

const toReaders = ({ kind, id }: Owner): readonly [string | null, string | null] =>
  kind === "organisation" ? [id, null] : [null, id];

/** The same in PostgreSQL. Jobs read what their organisation sees, the executions of an application what it was granted. */
export function createReferenceStore(database: Database): ReferenceStore {
  return {
    find: async ({ dataPoolId, dataSourceDescriptorId, fileId }, owner) => {
      const ids = [fileId, dataPoolId, dataSourceDescriptorId];
      if (!ids.every(isUuid)) return null;
      const [row] = await database.query<ReferredFile>({
        name: "reference-find",
        text: `select f.hash, f.bytes::float8 as bytes, o.form, o.form_detail as "formDetail"
          from pool_file f join data_pool p on p.id = f.pool_id join object o on o.hash = f.hash
          where f.id = $1 and f.pool_id = $2 and f.descriptor_id = $3 and f.ended_at is null
            and p.deleted_at is null and ${mayRead("$4", "$5")}`,
        values: [...ids, ...toReaders(owner)],
        idempotent: true,
      });
      return row ?? null;
    },
    listFiles: async (poolIds, owner, limit) =>
      await database.query<ListedFile>({
        name: "reference-list",
        // A pool without files has one row, without a file.
        text: `select p.id as "poolId", f.id as "fileId", f.name, f.hash as sha256, f.bytes::float8 as bytes
          from data_pool p left join pool_file f on f.pool_id = p.id and f.ended_at is null
          where p.id = any($1::uuid[]) and p.deleted_at is null and ${mayRead("$2", "$3")} limit $4`,
        values: [poolIds, ...toReaders(owner), limit],
        idempotent: true,
      }),
    setForm: async (hash, { isObject, detail }) => {
      await database.query({
        text: "update object set form = $2, form_detail = $3 where hash = $1",
        values: [hash, isObject ? "object" : "other", isObject ? null : detail],
        idempotent: true,
      });
    },
  };
}
