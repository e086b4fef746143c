import { MAX_PAGE_SIZE } from "@platform/contract/limits";

/** Reads all variables or secrets of a service or organisation, which has fifty at most: a new one must replace none that was not read. */
export const ALL_VARIABLES = { limit: MAX_PAGE_SIZE } as const;
