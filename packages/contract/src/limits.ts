/** Limits of the platform that its console names as well. Here, without schemas, for browsers and the command line tool. */

/** Largest `limit` of a list, and as many organisations come with the user. */
export const MAX_PAGE_SIZE = 100;

/** Limit of `data` and of `params` by value, in bytes of JSON text. */
export const MAX_INPUT_BYTES = 1_048_576;

/** Limit of `platform.json`. */
export const MAX_PROJECT_FILE_BYTES = 1_048_576;

/** A page of a log ends with the line, or group of lines written together, that reaches this size. */
export const LOG_PAGE_BYTES = 1_048_576;

/** Lines that one request for the end of a log gives, at most. */
export const MOST_LAST_LINES = 10_000;

/** Ids of one request that cancels executions, at most. */
export const MOST_CANCELLED_IDS = 500;

/** Executions that one request with a filter cancels, at most. */
export const MOST_CANCELLED = 10_000;

/** Days over which usage is added up at one time, at most. */
export const MOST_USAGE_DAYS = 366;
