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

/** The same in PostgreSQL. Jobs read what their organisation has; applications read nothing yet. */
export function createReferenceStore(database: Database): ReferenceStore {
  return {
    find: async ({ dataPoolId, dataSourceDescriptorId, fileId }, { kind, organisationId }) => {
      const ids = [fileId, dataPoolId, dataSourceDescriptorId];
      if (kind !== "organisation" || !ids.every(isUuid)) return null;
      const [row] = await database.query<ReferredFile>({
        name: "reference-find",
        text: `select f.hash, f.bytes::float8 as bytes, o.form, o.form_detail as "formDetail"
          from pool_file f join data_pool p on p.id = f.pool_id join object o on o.hash = f.hash
          where f.id = $1 and f.pool_id = $2 and f.descriptor_id = $3 and f.ended_at is null
            and p.organisation_id = $4 and p.deleted_at is null`,
        values: [...ids, organisationId],
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
