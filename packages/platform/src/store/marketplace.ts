import { readStoredSchema } from "@platform/engine/input-schema/bounds";
import { isUuid } from "@platform/engine/base/uuid";
import type { Database, RunStatement } from "../postgres/database.ts";
import { selectMilliseconds } from "./base/columns.ts";
import { readExact } from "./base/exact.ts";
import type { Page } from "./base/page.ts";
import type { ListingTerms } from "./listings.ts";
import { CARD_COLUMNS, OFFERED, listOffers } from "./marketplace-list.ts";
import type { MarketplaceSearch } from "./marketplace-list.ts";
import { readCurrent } from "./plans.ts";
import type { PlanRecord } from "./plans.ts";
import { toFigures } from "./service-figures.ts";
import type { FigureSums, ServiceFigures } from "./service-figures.ts";

/** A service that can be subscribed to, as lists show it. */
export interface CardRecord extends Omit<
  ListingTerms,
  "contact" | "exampleInput" | "description" | "sharesFigures"
> {
  readonly serviceKey: string;
  readonly serviceName: string;
  readonly providerName: string;
  /** Unlike the name, which anybody can give their organisation, no other's. */
  readonly providerSlug: string;
  readonly publication: "internal" | "marketplace";
  /** The highest live version, `MAJOR.MINOR.PATCH`. */
  readonly latestVersion: string;
  readonly hasFreePlan: boolean;
  /** Prices of the cheapest current plan; null: it has none, which only what is published internally can be. */
  readonly priceFrom: PriceRecord | null;
  /** Whether a current plan has other prices than these. */
  readonly hasOtherPrices: boolean;
  /** How it ran in the last 30 days; null: its provider does not say so, or there were too few executions. */
  readonly figures: ServiceFigures | null;
}

/** What a plan costs, as `PlanTerms` has it. */
type PriceRecord = Pick<PlanRecord, "currency" | "monthly" | "perExecution" | "perCpuSecond">;

/** A live version. */
interface OfferedVersion {
  readonly version: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/** A subscription of the reader's organisation. */
interface OwnSubscription {
  readonly id: string;
  readonly applicationId: string;
}

/** A service that can be subscribed to, with all that is shown of it: nothing of its code or its other subscribers. */
export interface EntryRecord extends CardRecord, Pick<ListingTerms, "contact" | "exampleInput"> {
  /** Markdown: the listing's, else the latest version's. */
  readonly description: string;
  /** For how many days results and logs are kept; null: as the platform keeps others. */
  readonly resultDays: number | null;
  readonly logDays: number | null;
  /** Both, and the example, with all digits of their numbers (`ExactNumber`). */
  readonly inputSchema: Record<string, unknown> | null;
  readonly outputSchema: Record<string, unknown> | null;
  readonly versions: readonly OfferedVersion[];
  readonly plans: readonly PlanRecord[];
  readonly subscriptions: readonly OwnSubscription[];
}

/** A version as its clients need it: nothing of its code. Schemas and example have all digits of their numbers (`ExactNumber`). */
export interface ClientVersionRecord {
  readonly serviceKey: string;
  /** Name of the service. */
  readonly service: string;
  /** MAJOR.MINOR.PATCH. */
  readonly version: string;
  readonly inputSchema: Record<string, unknown> | null;
  readonly outputSchema: Record<string, unknown> | null;
  readonly exampleInput: ListingTerms["exampleInput"];
}

/** What an organisation can subscribe to: the marketplace, and what it has published internally. */
export interface MarketplaceStore {
  readonly list: (organisationId: string, search: MarketplaceSearch) => Promise<Page<CardRecord>>;
  /** Null: there is no such service, or it cannot be subscribed to. */
  readonly find: (organisationId: string, serviceKey: string) => Promise<EntryRecord | null>;
  /**
   * A version that the organisation can subscribe to, of a service that it has subscribed to, or of its own; null: there is none.
   */
  readonly findForClient: (
    organisationId: string,
    serviceKey: string,
    version: string,
  ) => Promise<ClientVersionRecord | null>;
}

const MAX_SHOWN = 100;

/** Columns of json that are read as text. */
type ExactParts = "exampleInput" | "inputSchema" | "outputSchema";

async function findForClient(
  database: Database,
  organisationId: string,
  serviceKey: string,
  version: string,
): Promise<ClientVersionRecord | null> {
  if (!isUuid(serviceKey)) return null;
  const [row] = await database.query<
    Omit<ClientVersionRecord, ExactParts> & Readonly<Record<ExactParts, string | null>>
  >({
    text: `select s.key as "serviceKey", s.name as service, $3 as version, v.input_schema::text as "inputSchema",
        v.output_schema::text as "outputSchema", l.example_input::text as "exampleInput"
      from version v join service s on s.key = v.service_key join organisation o on o.id = s.organisation_id
      left join listing l on l.service_key = s.key
      where s.key = $2 and concat_ws('.', v.major, v.minor, v.patch) = $3 and o.deleted_at is null and (
        s.organisation_id = $1
        or (s.publication = 'marketplace' and v.retired_at is null)
        or exists (select 1 from subscription b join application a on a.id = b.application_id
          where a.organisation_id = $1 and b.service_key = s.key and b.cancelled_at is null and b.ended_at is null)
      )`,
    values: [organisationId, serviceKey, version],
    idempotent: true,
  });
  if (row === undefined) return null;
  return {
    ...row,
    exampleInput: readExact(row.exampleInput) as ClientVersionRecord["exampleInput"],
    inputSchema: readStoredSchema(readExact(row.inputSchema)),
    outputSchema: readStoredSchema(readExact(row.outputSchema)),
  };
}

/** The store of what can be subscribed to in PostgreSQL. */
export function createMarketplaceStore(database: Database): MarketplaceStore {
  return {
    list: (organisationId, search) => listOffers(database, organisationId, search),
    find: (organisationId, serviceKey) => findOffer(database, organisationId, serviceKey),
    findForClient: (organisationId, serviceKey, version) =>
      findForClient(database, organisationId, serviceKey, version),
  };
}

interface OfferRow
  extends
    Omit<EntryRecord, "plans" | "versions" | "subscriptions" | "figures" | ExactParts>,
    Readonly<Record<ExactParts, string | null>> {
  readonly figures: FigureSums;
}

async function findOffer(
  database: Database,
  organisationId: string,
  serviceKey: string,
): Promise<EntryRecord | null> {
  if (!isUuid(serviceKey)) return null;
  const [row] = await database.query<OfferRow>({
    text: `select ${CARD_COLUMNS}, l.contact, l.example_input::text as "exampleInput", coalesce(l.description, v.description) as description,
        s.result_days as "resultDays", s.log_days as "logDays", v.input_schema::text as "inputSchema", v.output_schema::text as "outputSchema" ${OFFERED} and s.key = $2`,
    values: [organisationId, serviceKey],
    idempotent: true,
  });
  if (row === undefined) return null;
  const [versions, plans, subscriptions] = await Promise.all([
    readVersions(database.query, serviceKey),
    readCurrent(database.query, serviceKey),
    readSubscriptions(database.query, organisationId, serviceKey),
  ]);
  return {
    ...row,
    figures: toFigures(row.figures),
    exampleInput: readExact(row.exampleInput) as EntryRecord["exampleInput"],
    inputSchema: readStoredSchema(readExact(row.inputSchema)),
    outputSchema: readStoredSchema(readExact(row.outputSchema)),
    versions,
    plans,
    subscriptions,
  };
}

async function readVersions(run: RunStatement, serviceKey: string): Promise<readonly OfferedVersion[]> {
  return await run<OfferedVersion>({
    text: `select concat_ws('.', v.major, v.minor, v.patch) as version, ${selectMilliseconds("v.created_at")} as "createdAt"
      from version v where v.service_key = $1 and v.retired_at is null
      order by v.major desc, v.minor desc, v.patch desc limit ${MAX_SHOWN}`,
    values: [serviceKey],
    idempotent: true,
  });
}

async function readSubscriptions(
  run: RunStatement,
  organisationId: string,
  serviceKey: string,
): Promise<readonly OwnSubscription[]> {
  return await run<OwnSubscription>({
    text: `select b.id, b.application_id as "applicationId" from subscription b join application a on a.id = b.application_id
      where a.organisation_id = $1 and b.service_key = $2 and b.cancelled_at is null and b.ended_at is null order by b.id desc limit ${MAX_SHOWN}`,
    values: [organisationId, serviceKey],
    idempotent: true,
  });
}
