/** The most characters of what lists are searched for. Here, without schemas, for browsers. */
export const SEARCH_LIMITS = {
  /** Part of the name of a service, and of the id of a backend: neither is longer. */
  service: 63,
  backend: 63,
  /** Part of what names an execution, and its code. */
  execution: 100,
  marketplace: 200,
  marketplaceTag: 32,
  /** Part of the name of a quantum job, and a tag: no job has longer ones. */
  quantumJob: 200,
  quantumJobTag: 64,
  /** Part of the name of a file of a data pool: none is longer. */
  poolFile: 200,
  /** Users and organisations of a platform. */
  operator: 200,
  /** Who did something, and to what. */
  audit: 200,
} as const;

/** The longest time that executions can be asked for by, in milliseconds. */
export const MOST_RAN_MS = 999_999_999;

/** The highest number of a page, of lists that number them. */
export const LAST_PAGE = 10_000;
