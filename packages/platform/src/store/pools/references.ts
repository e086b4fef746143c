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

/** What references lead to. */
export interface ReferenceStore {
  /** Null: there is no such file, or the owner may not read it. */
  readonly find: (reference: FileReference, owner: Owner) => Promise<ReferredFile | null>;
  /** Keeps what was found of a content, for all who refer to it. */
  readonly setForm: (
    hash: string,
    form: { readonly isObject: boolean; readonly detail: string | null },
  ) => Promise<void>;
}

/** SQL: whether the owner of an execution may read the pool `p`. $4: its organisation, null for a subscription; $5: the subscription. */
const MAY_READ = `(p.organisation_id = $4
      or exists (select 1 from data_pool_share s where s.pool_id = p.id and s.organisation_id = $4)
      or exists (select 1 from data_pool_grant g join subscription b on b.application_id = g.application_id
        where g.pool_id = p.id and b.id = $5))`;

/** The same in PostgreSQL. Jobs read what their organisation sees, the executions of an application what it was granted. */
export function createReferenceStore(database: Database): ReferenceStore {
  return {
    find: async ({ dataPoolId, dataSourceDescriptorId, fileId }, owner) => {
      const ids = [fileId, dataPoolId, dataSourceDescriptorId];
      if (!ids.every(isUuid)) return null;
      const readers = owner.kind === "organisation" ? [owner.id, null] : [null, owner.id];
      const [row] = await database.query<ReferredFile>({
        name: "reference-find",
        text: `select f.hash, f.bytes::float8 as bytes, o.form, o.form_detail as "formDetail"
          from pool_file f join data_pool p on p.id = f.pool_id join object o on o.hash = f.hash
          where f.id = $1 and f.pool_id = $2 and f.descriptor_id = $3 and f.ended_at is null
            and p.deleted_at is null and ${MAY_READ}`,
        values: [...ids, ...readers],
        idempotent: true,
      });
      return row ?? null;
    },
    setForm: async (hash, { isObject, detail }) => {
      await database.query({
        text: "update object set form = $2, form_detail = $3 where hash = $1",
        values: [hash, isObject ? "object" : "other", isObject ? null : detail],
        idempotent: true,
      });
    },
  };
}
