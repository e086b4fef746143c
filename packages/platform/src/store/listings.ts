import { Problem } from "@platform/contract/problems";
import { isUuid } from "@platform/engine/base/uuid";
import { findExcess } from "@platform/engine/input-schema/bounds";
import type { Database, RunStatement } from "../postgres/database.ts";
import { noteUnchanged } from "./audit/trail.ts";
import { selectMilliseconds } from "./base/columns.ts";
import { readExact } from "./base/exact.ts";
import { refuseStale } from "./base/stale.ts";
import { lockService } from "./plans.ts";

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
  /** With all digits of its numbers (`ExactNumber`). */
  readonly exampleInput: ExampleInput | null;
  /** Markdown; null: that of the latest version is shown. */
  readonly description: string | null;
  /** Whether others see how it runs (service-figures.ts). */
  readonly sharesFigures: boolean;
}

/** A listing; of a service that has none: its name, and nothing else. */
export interface ListingRecord extends ListingTerms {
  /** Counts from 1; 0: nobody has written it yet. */
  readonly revision: number;
  /** Milliseconds since the epoch; null: nobody has written it yet. */
  readonly changedAt: number | null;
}

/** A listing that takes the place of the revision `replaces`; absent: of any. */
interface NewListing extends ListingTerms {
  readonly replaces?: number | undefined;
}

/** Listings of services. A service of another organisation is treated as missing (null). */
export interface ListingStore {
  readonly find: (organisationId: string, serviceKey: string) => Promise<ListingRecord | null>;
  /**
   * Writes it; the same listing changes nothing.
   *
   * @throws Problem CONFLICT when `replaces` is given and is not the newest revision; INVALID_INPUT for an example that cannot be stored
   */
  readonly put: (
    organisationId: string,
    serviceKey: string,
    listing: NewListing,
  ) => Promise<ListingRecord | null>;
}

/** What cards show of the listing `l` of a service `s`, or of a service without one. */
export const SHOWN_COLUMNS = `coalesce(l.title, s.name) as title, coalesce(l.summary, '') as summary,
  coalesce(l.tags, '{}') as tags, l.icon`;

const COLUMNS = `${SHOWN_COLUMNS}, l.contact, l.example_input::text as "exampleInput", l.description,
  coalesce(l.shares_figures, false) as "sharesFigures", coalesce(l.revision, 0) as revision, ${selectMilliseconds("l.changed_at")} as "changedAt"`;

/** The store of listings in PostgreSQL. */
export function createListingStore(database: Database): ListingStore {
  return {
    find: (organisationId, serviceKey) => findListing(database.query, organisationId, serviceKey),
    put: (organisationId, serviceKey, listing) =>
      database.transaction((run) => putListing(run, organisationId, serviceKey, listing)),
  };
}

async function findListing(
  run: RunStatement,
  organisationId: string,
  serviceKey: string,
): Promise<ListingRecord | null> {
  if (!isUuid(serviceKey)) return null;
  const [row] = await run<Omit<ListingRecord, "exampleInput"> & { readonly exampleInput: string | null }>({
    text: `select ${COLUMNS} from service s left join listing l on l.service_key = s.key
      where s.key = $1 and s.organisation_id = $2`,
    values: [serviceKey, organisationId],
    idempotent: true,
  });
  if (row === undefined) return null;
  return { ...row, exampleInput: readExact(row.exampleInput) as ExampleInput | null };
}

async function putListing(
  run: RunStatement,
  organisationId: string,
  serviceKey: string,
  { replaces, ...terms }: NewListing,
): Promise<ListingRecord | null> {
  checkExample(terms.exampleInput);
  // Listings of a service are written one after the other, and it is not deleted meanwhile.
  if (!(await lockService(run, organisationId, serviceKey))) return null;
  const found = await findListing(run, organisationId, serviceKey);
  if (found === null) return null;
  const values = [serviceKey, ...listValues(terms)];
  const example = terms.exampleInput === null ? null : JSON.stringify(terms.exampleInput);
  const [{ isSame } = { isSame: false }] = await run<{ readonly isSame: boolean }>({
    text: `select (l.title, l.summary, l.tags, l.contact, l.icon, l.description, l.shares_figures)
        is not distinct from ($2, $3, $4::text[], $5, $6, $7, $8) as "isSame"
      from listing l where l.service_key = $1`,
    values,
  });
  // Not in SQL: json has no equality, and jsonb forgets the order, which is a change as well.
  const former = found.exampleInput === null ? null : JSON.stringify(found.exampleInput);
  if (isSame && former === example) {
    noteUnchanged();
    return found;
  }
  if (replaces !== undefined && replaces !== found.revision)
    throw refuseStale("listing", found.revision, replaces);
  await run({
    text: `insert into listing as l (service_key, title, summary, tags, contact, icon, description, shares_figures, example_input)
      values ($1, $2, $3, $4::text[], $5, $6, $7, $8, $9::json)
      on conflict (service_key) do update set title = excluded.title, summary = excluded.summary, tags = excluded.tags,
        contact = excluded.contact, icon = excluded.icon, description = excluded.description,
        shares_figures = excluded.shares_figures, example_input = excluded.example_input, revision = l.revision + 1, changed_at = now()
      returning l.service_key`,
    values: [...values, example],
    audited: ["listing.put"],
  });
  return await findListing(run, organisationId, serviceKey);
}

/** As the builder does with that of a project. @throws Problem INVALID_INPUT for what cannot be stored */
function checkExample(example: ListingTerms["exampleInput"]): void {
  const excess = findExcess(example);
  if (excess === null) return;
  const message = `The example ${excess}.`;
  throw new Problem("INVALID_INPUT", message, { errors: [{ path: "/exampleInput", message }] });
}

/** All but the example. */
function listValues(terms: ListingTerms): readonly unknown[] {
  const { title, summary, tags, contact, icon, description, sharesFigures } = terms;
  return [title, summary, tags, contact, icon, description, sharesFigures];
}
