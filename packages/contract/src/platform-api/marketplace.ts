import { Type } from "typebox";
import type { Static } from "typebox";
import { READS, WRITES } from "../operation-rows.ts";
import type { OperationTable } from "../operation.ts";
import { SEARCH_LIMITS } from "../search-limits.ts";
import { PageQuery } from "../service-api.ts";
import { JsonObject, Nullable, StringEnum, Timestamp, pageOf } from "../schemas.ts";
import { VISIBLE } from "../visible-text.ts";
import { KeyParams, Replaces, ServiceKey, ServiceName, VersionNumber } from "./common.ts";
import { MARKETPLACE_SORTS } from "./marketplace-sorts.ts";
import { PlanSchema, PricesSchema } from "./plans.ts";
import { ExampleInput, Publication } from "./services.ts";

/** 16 KB: enough for 128 x 128 pixels, and a page of 100 stays below 2 MB. */
const MAX_ICON_LENGTH = 16_384;

const Tag = Type.String({
  pattern: "^[a-z0-9][a-z0-9-]{0,31}$",
  description: "Lower-case letters, digits and hyphens, at most 32",
});

const Shown = {
  title: Type.String({
    minLength: 1,
    maxLength: 120,
    pattern: `^(?=.*\\S)${VISIBLE}`,
    description: "Title, one line",
  }),
  summary: Type.String({ maxLength: 160, pattern: `^${VISIBLE}`, description: "One line below the title" }),
  tags: Type.Array(Tag, { maxItems: 10, uniqueItems: true, description: "What it can be found by" }),
  icon: Nullable(
    Type.String({
      maxLength: MAX_ICON_LENGTH,
      pattern: "^data:image/(png|jpeg|webp);base64,[A-Za-z0-9+/]+={0,2}$",
    }),
    { description: "Image as a data URL: PNG, JPEG or WebP, at most 16 KB; null: none" },
  ),
};

const Details = {
  contact: Nullable(
    Type.String({ maxLength: 200, pattern: "^(https://[^\\s<>\"']+|[^\\s<>\"'@]+@[^\\s<>\"'@]+)$" }),
    { description: "Whom to ask: an email address or an https URL; null: nobody is named" },
  ),
  exampleInput: Nullable(ExampleInput, {
    description: "The body of a start to try, at most 64 KB; null: none",
  }),
};

const SharesFigures = Type.Boolean({
  description:
    "Whether others see how it runs for other organisations (`figures` in the marketplace); default: false",
});

const Description = Nullable(Type.String({ minLength: 1, maxLength: 65_536 }), {
  description:
    "Markdown that is shown instead of the latest version's `descriptionFile`; null: that file is shown",
});

/** What a service shows of itself, as its provider edits it. */
const ListingSchema = Type.Object(
  {
    ...Shown,
    ...Details,
    description: Description,
    sharesFigures: SharesFigures,
    revision: Type.Integer({ description: "Counts from 1; 0: nobody has written it yet" }),
    changedAt: Nullable(Timestamp("When it was changed"), {
      description:
        "When it was last changed; null: nobody has written it yet, its title is the service's name",
    }),
  },
  { title: "Listing", description: "What a service shows of itself" },
);

/** What a service shows of itself, as its provider edits it. */
export type Listing = Static<typeof ListingSchema>;

const PutListingSchema = Type.Object(
  {
    revision: Replaces("listing"),
    title: Shown.title,
    summary: Type.Optional(Shown.summary),
    tags: Type.Optional(Shown.tags),
    icon: Type.Optional(Shown.icon),
    contact: Type.Optional(Details.contact),
    exampleInput: Type.Optional(Details.exampleInput),
    description: Type.Optional(Description),
    sharesFigures: Type.Optional(SharesFigures),
  },
  {
    additionalProperties: false,
    title: "PutListingRequest",
    description: "The whole listing: what is absent is empty",
  },
);

const FiguresSchema = Type.Object(
  {
    successPercent: Type.Integer({
      minimum: 0,
      maximum: 100,
      description:
        "How many of 100 executions have succeeded, rounded down. Executions that never ran, were cancelled, or were failed by the platform do not count",
    }),
    medianRunMs: Nullable(Type.Integer({ minimum: 0 }), {
      description:
        "Half of those that succeeded ran no longer, in milliseconds, at most a tenth off; null: fewer than 20 have succeeded",
    }),
  },
  {
    title: "ServiceFigures",
    description:
      "What became of executions that organisations other than the provider have started, in the 30 days (UTC) before today",
  },
);

const Card = {
  serviceKey: ServiceKey,
  serviceName: ServiceName,
  providerName: Type.String({ description: "Name of the organisation that provides it; others may have it" }),
  providerSlug: Type.String({ description: "Slug of that organisation, which no other has" }),
  publication: Publication,
  ...Shown,
  latestVersion: VersionNumber,
  hasFreePlan: Type.Boolean({ description: "Whether one of its plans costs nothing" }),
  priceFrom: Nullable(PricesSchema, {
    description:
      "Prices of its cheapest plan: one that is free, else by the fee of a month, then by execution and CPU-second; of several currencies the first by name, since amounts are not converted. null: it has no plan, which only what is published internally can be",
  }),
  hasOtherPrices: Type.Boolean({ description: "Whether one of its plans has other prices than these" }),
  figures: Nullable(FiguresSchema, {
    description:
      "How it runs for others; null: its provider does not share it, or fewer than 20 executions count",
  }),
};

/** A service in a list of the marketplace. */
const CardSchema = Type.Object(Card, {
  title: "MarketplaceCard",
  description: "A service that can be subscribed to",
});

/** A service in a list of the marketplace. */
export type MarketplaceCard = Static<typeof CardSchema>;

const OfferedVersionSchema = Type.Object(
  { version: VersionNumber, createdAt: Timestamp("When it was created") },
  { title: "OfferedVersion", description: "A live version" },
);

/** All that is shown of a service before one subscribes. */
const EntrySchema = Type.Object(
  {
    ...Card,
    ...Details,
    description: Type.String({
      description:
        "Markdown of the listing, else of the latest version's `descriptionFile`; untrusted: show it sanitised",
    }),
    versions: Type.Array(OfferedVersionSchema, {
      description: "Live versions, the highest first; at most 100",
    }),
    plans: Type.Array(PlanSchema, { description: "Plans that can be subscribed to, the newest first" }),
    resultDays: Type.Integer({
      description: "For how many days after their end executions that are started now are kept",
    }),
    logDays: Type.Integer({ description: "The same for their logs" }),
    inputSchema: Nullable(JsonObject("JSON Schema"), {
      description: "JSON Schema of the latest version's input; null: it has none",
    }),
    outputSchema: Nullable(JsonObject("JSON Schema"), {
      description: "JSON Schema of the latest version's result; null: it has none",
    }),
    subscriptions: Type.Array(
      Type.Object({
        id: Type.String({ description: "Identifier of the subscription" }),
        applicationId: Type.String({ description: "Identifier of the application" }),
      }),
      { description: "Subscriptions of the caller's organisation, the newest first; at most 100" },
    ),
  },
  {
    title: "MarketplaceEntry",
    description: "A service that can be subscribed to, with all that is shown of it",
  },
);

/** All that is shown of a service before one subscribes. */
export type MarketplaceEntry = Static<typeof EntrySchema>;

const CallableVersionSchema = Type.Object(
  {
    version: VersionNumber,
    inputSchema: Nullable(JsonObject("JSON Schema"), {
      description: "JSON Schema of its input; null: it has none",
    }),
    outputSchema: Nullable(JsonObject("JSON Schema"), {
      description: "JSON Schema of its result; null: it has none",
    }),
    exampleInput: Details.exampleInput,
  },
  { title: "CallableVersion", description: "What callers need to know of a version" },
);

const ClientLanguageSchema = StringEnum(["java", "javascript", "python"], {
  title: "ClientLanguage",
  description: "Language of the client",
});

/** A language for which there are clients. */
export type ClientLanguage = Static<typeof ClientLanguageSchema>;

const OpenApiDocumentSchema = Type.Object(
  { openapi: Type.String({ examples: ["3.1.0"] }), info: Type.Object({}), paths: Type.Object({}) },
  { title: "OpenApiDocument", description: "An OpenAPI document (spec.openapis.org/oas/v3.1.0)" },
);

const ClientParams = Type.Object({ ...KeyParams.properties, version: VersionNumber });

/** Listings of services, and the marketplace that shows them. */
export const MARKETPLACE_API = {
  getListing: {
    ...READS,
    path: "/services/{key}/listing",
    summary: "Get what a service shows of itself",
    description: "Whether or not it is published.",
    params: KeyParams,
    responses: { 200: { description: "Listing", schema: ListingSchema } },
    problems: ["SERVICE_NOT_FOUND"],
  },
  putListing: {
    ...WRITES,
    method: "PUT",
    path: "/services/{key}/listing",
    allows: "edit",
    audit: "listing.put",
    summary: "Write what a service shows of itself",
    description:
      "Replaces all of it; seen at once where the service is published. The same listing changes nothing. CONFLICT: `revision` is given and is not the newest one, so another change came first.",
    params: KeyParams,
    keepsDigits: true,
    body: PutListingSchema,
    responses: { 200: { description: "Written", schema: ListingSchema } },
    problems: ["SERVICE_NOT_FOUND", "CONFLICT"],
  },
  listMarketplace: {
    ...READS,
    path: "/marketplace",
    summary: "Search for services to subscribe to",
    description:
      "Services in the marketplace, and those that the own organisation has published internally, if they have a live version. Without `sort` the best match first where there is `q`, else the newest. A cursor continues the order that it came with.",
    query: Type.Object({
      ...PageQuery.properties,
      q: Type.Optional(
        Type.String({
          maxLength: SEARCH_LIMITS.marketplace,
          description:
            "Words that name, title, tags, summary or description have, each or its beginning; at most 10 count",
        }),
      ),
      tag: Type.Optional(
        Type.String({
          maxLength: SEARCH_LIMITS.marketplaceTag,
          description: "Only services with this tag",
        }),
      ),
      price: Type.Optional(
        StringEnum(["free"], { description: "free: only services that have a plan without any price" }),
      ),
      sort: Type.Optional(
        StringEnum(MARKETPLACE_SORTS, {
          description:
            "newest: by when the service was made; name: by title, in lower case and byte by byte; price: by `priceFrom`, what is free or needs no plan first, then by currency and amounts",
        }),
      ),
    }),
    responses: { 200: { description: "One page", schema: pageOf("MarketplacePage", CardSchema) } },
  },
  getMarketplaceEntry: {
    ...READS,
    path: "/marketplace/{key}",
    summary: "Get a service that can be subscribed to",
    description:
      "What is shown before one subscribes: description, plans, versions, schemas; nothing of its code.",
    params: KeyParams,
    responses: { 200: { description: "Service", schema: EntrySchema } },
    problems: ["SERVICE_NOT_FOUND"],
  },
  getCallableVersion: {
    ...READS,
    path: "/marketplace/{key}/versions/{version}",
    summary: "Get what callers need to know of a version",
    description:
      "Schemas of input and result, and an input to try; nothing of its code. Of the same services as `downloadClient`, also where a service was withdrawn and a subscription to it goes on.",
    params: ClientParams,
    responses: { 200: { description: "Version", schema: CallableVersionSchema } },
    problems: ["SERVICE_NOT_FOUND"],
  },
  downloadClient: {
    ...READS,
    path: "/marketplace/{key}/versions/{version}/clients/{language}",
    answerMode: "content",
    summary: "Download a client of a version",
    description:
      "A ZIP file: a package that starts executions, waits for them and fetches their results, with types of the version's input and result, and an example. Of services that can be subscribed to or are, and of the organisation's own, published or not.",
    params: Type.Object({ ...ClientParams.properties, language: ClientLanguageSchema }),
    responses: { 200: { description: "The content" } },
    problems: ["SERVICE_NOT_FOUND", "RATE_LIMITED"],
  },
  downloadOpenApi: {
    ...READS,
    path: "/marketplace/{key}/versions/{version}/openapi.json",
    answerMode: "content",
    summary: "Download the OpenAPI document of a version",
    description: "For generators of clients; of the same services as `downloadClient`.",
    params: ClientParams,
    responses: { 200: { description: "The document", schema: OpenApiDocumentSchema } },
    problems: ["SERVICE_NOT_FOUND"],
  },
} as const satisfies OperationTable;
