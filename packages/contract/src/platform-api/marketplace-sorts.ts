/** Orders of the list of services that can be asked for. Here, without schemas, for browsers and the command line tool. */
export const MARKETPLACE_SORTS = ["newest", "name", "price"] as const;

/** An order of the list of services. */
export type MarketplaceSort = (typeof MARKETPLACE_SORTS)[number];
