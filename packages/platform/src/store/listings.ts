import { isUuid } from "@platform/engine/base/uuid";
import type { Database } from "../postgres/database.ts";
import { selectMilliseconds } from "./base/columns.ts";

/** The body of a start to try. */
interface ExampleInput {
  readonly data?: Record<string, unknown>;
  readonly params?: Record<string, unknown>;
}

/** What a provider writes of a service for those who may subscribe. */
export interface ListingTerms {
  readonly title: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly contact: string | null;
  /** A data URL. */
  readonly icon: string | null;
  readonly exampleInput: ExampleInput | null;
  /** Markdown; null: that of the latest version is shown. */
  readonly description: string | null;
}

/** A listing; of a service that has none: its name, and nothing else. */
export interface ListingRecord extends ListingTerms {
  /** Milliseconds since the epoch; null: nobody has written it yet. */
  readonly changedAt: number | null;
}

/** Listings of services. A service of another organisation is treated as missing (null). */
export interface ListingStore {
  readonly find: (organisationId: string, serviceKey: string) => Promise<ListingRecord | null>;
  readonly put: (
    organisationId: string,
    serviceKey: string,
    listing: ListingTerms,
  ) => Promise<ListingRecord | null>;
}

/** What cards show of the listing `l` of a service `s`, or of a service without one. */
export const SHOWN_COLUMNS = `coalesce(l.title, s.name) as title, coalesce(l.summary, '') as summary,
  coalesce(l.tags, '{}') as tags, l.icon`;

const COLUMNS = `${SHOWN_COLUMNS}, l.contact, l.example_input as "exampleInput", l.description, ${selectMilliseconds("l.changed_at")} as "changedAt"`;

/** The store of listings in PostgreSQL. */
export function createListingStore(database: Database): ListingStore {
  return {
    find: async (organisationId, serviceKey) => {
      if (!isUuid(serviceKey)) return null;
      const [row] = await database.query<ListingRecord>({
        text: `select ${COLUMNS} from service s left join listing l on l.service_key = s.key
          where s.key = $1 and s.organisation_id = $2`,
        values: [serviceKey, organisationId],
        idempotent: true,
      });
      return row ?? null;
    },
    put: async (organisationId, serviceKey, listing) => {
      if (!isUuid(serviceKey)) return null;
      const { title, summary, tags, contact, icon, exampleInput, description } = listing;
      const example = exampleInput === null ? null : JSON.stringify(exampleInput);
      const [row] = await database.query<ListingRecord>({
        text: `insert into listing as l (service_key, title, summary, tags, contact, icon, example_input, description)
          select s.key, $3, $4, $5::text[], $6, $7, $8::jsonb, $9 from service s where s.key = $1 and s.organisation_id = $2
          -- A service may be deleted meanwhile, which the key of the new row would run into.
          for key share of s
          on conflict (service_key) do update set title = excluded.title, summary = excluded.summary, tags = excluded.tags,
            contact = excluded.contact, icon = excluded.icon, example_input = excluded.example_input,
            description = excluded.description, changed_at = now()
          returning l.title, l.summary, l.tags, l.icon, l.contact, l.example_input as "exampleInput", l.description,
            ${selectMilliseconds("l.changed_at")} as "changedAt"`,
        values: [serviceKey, organisationId, title, summary, tags, contact, icon, example, description],
        audited: ["listing.put"],
        idempotent: true,
      });
      return row ?? null;
    },
  };
}
