/** Reads all variables or secrets of a service or organisation, which has fifty at most: a new one must replace none that was not read. */
export const ALL_VARIABLES = { limit: 100 } as const;
