import type { MarketplaceSort } from "@platform/contract/platform-api/marketplace-sorts";

/** The orders of the list of services: on the field that chooses one, and below the list. "match": of words that are searched for. */
export const ORDERS = {
  match: { label: "Best match first", words: "the best match first" },
  newest: { label: "Newest first", words: "the newest first" },
  name: { label: "By title", words: "by title" },
  price: { label: "By price", words: "the lowest price first" },
} as const satisfies Readonly<
  Record<MarketplaceSort | "match", { readonly label: string; readonly words: string }>
>;

/** An order of the list of services. */
export type OfferOrder = keyof typeof ORDERS;
