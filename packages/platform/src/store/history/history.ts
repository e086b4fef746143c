import type { ConnectionTarget, Database, DatabaseOptions } from "../../postgres/database.ts";
import { HISTORY } from "../../postgres/limits.ts";
import type { PageRequest } from "../base/page.ts";
import type { NoteCancelled } from "../executions/cancel-many.ts";
import { createExecutionDatabase } from "../executions/execution-store.ts";
import { auditChanges } from "../audit/trail.ts";
import { cancelAll, countOwn, findCancellable } from "./cancel.ts";
import { countHistory } from "./count.ts";
import type { HistoryCounts } from "./count.ts";
import type { CountDimension } from "@platform/contract/platform-api/execution-overview";
import { findPlace } from "./explain.ts";
import type { QueuePlace } from "./explain.ts";
import { readInput, readLines } from "./contents.ts";
import type { ContentKey, HistoryLines, LineWish } from "./contents.ts";
import { findHistory, locateExecution } from "./find.ts";
import type { HistoryDetails, HistoryLocation } from "./find.ts";
import { listHistory } from "./list.ts";
import type { HistoryPage } from "./list.ts";
import type { Asker, HistoryFilter } from "./scope.ts";

/** The executions that concern an organisation, whoever has started them. What concerns another is not there. */
export interface HistoryStore {
  /** Newest first. @throws Problem INVALID_INPUT for an invalid cursor */
  readonly list: (asker: Asker, filter: HistoryFilter & PageRequest) => Promise<HistoryPage>;
  /** As many as one request may look at. */
  readonly count: (
    asker: Asker,
    filter: HistoryFilter & { readonly by: CountDimension },
  ) => Promise<HistoryCounts>;
  /** Of one that the asker may see; null: it does not wait. */
  readonly findPlace: (id: string) => Promise<QueuePlace | null>;
  readonly find: (asker: Asker, id: string) => Promise<HistoryDetails | null>;
  /** Of the organisation's own; null: it is not kept. */
  readonly readInput: (key: ContentKey) => Promise<Uint8Array | null>;
  readonly readLines: (key: ContentKey, wish: LineWish) => Promise<HistoryLines>;
  /** The organisation's own that have not ended and match; null: more than one request cancels, or looks at. */
  readonly findCancellable: (asker: Asker, filter: HistoryFilter) => Promise<readonly string[] | null>;
  /** How many of these are the organisation's own. */
  readonly countOwn: (asker: Asker, ids: readonly string[]) => Promise<number>;
  /** Those of them that have not ended; returns how many these were. */
  readonly cancel: (asker: Asker, ids: readonly string[]) => Promise<number>;
  /** Over all organisations of the user. */
  readonly locate: (userId: string, id: string) => Promise<HistoryLocation | null>;
}

/** One more than searches have at the same time (base/fair-gate.ts), each of which may keep one busy for a second (walk.ts). */
const HISTORY_CONNECTIONS = 4;

/** A pool for the statements of this store. */
export function createHistoryDatabase(target: ConnectionTarget, options: DatabaseOptions): Database {
  return createExecutionDatabase(target, {
    maxConnections: HISTORY_CONNECTIONS,
    limits: HISTORY,
    ...options,
  });
}

/** The store in PostgreSQL. */
export function createHistoryStore(
  database: Database,
  noteCancelled: NoteCancelled = () => undefined,
): HistoryStore {
  return {
    list: (asker, filter) => listHistory(database, asker, filter),
    count: (asker, filter) => countHistory(database, asker, filter),
    findPlace: (id) => findPlace(database, id),
    find: (asker, id) => findHistory(database, asker, id),
    readInput: (key) => readInput(database, key),
    readLines: (key, wish) => readLines(database, key, wish),
    findCancellable: (asker, filter) => findCancellable(database, asker, filter),
    countOwn: (asker, ids) => countOwn(database, asker, ids),
    cancel: (asker, ids) => cancelAll(auditChanges(database), noteCancelled, asker, ids),
    locate: (userId, id) => locateExecution(database, userId, id),
  };
}
