import type { Database } from "../../postgres/database.ts";
import { addLengths, findLength } from "./lengths.ts";
import { readSeries } from "./series.ts";
import type { SeriesRange } from "./series.ts";
import { measureStorage } from "./storage.ts";
import type { StoredKind } from "./storage.ts";

/** What happened in a step of time. Lengths in milliseconds; null: nothing was measured, or there was none. */
interface SeriesFigures {
  /** When it began, in seconds since the epoch. */
  readonly at: number;
  readonly pending: number | null;
  readonly running: number | null;
  readonly started: number;
  readonly finished: number;
  readonly waitP50: number | null;
  readonly waitP95: number | null;
  readonly ranP95: number | null;
}

/** Figures of the instance, for its operators. */
export interface FigureStore {
  /** Steps in which something was written, the oldest first. */
  readonly readSeries: (range: SeriesRange) => Promise<readonly SeriesFigures[]>;
  /** Reads tables as a whole: to be asked seldom. */
  readonly measureStorage: () => Promise<readonly StoredKind[]>;
}

/** The figures in PostgreSQL. */
export function createFigureStore(database: Database): FigureStore {
  return {
    readSeries: async (range) =>
      (await readSeries(database, range)).map(({ waits, runs, ...step }) => {
        const [waited, ran] = [addLengths(waits), addLengths(runs)];
        return {
          ...step,
          waitP50: findLength(waited, 0.5),
          waitP95: findLength(waited, 0.95),
          ranP95: findLength(ran, 0.95),
        };
      }),
    measureStorage: () => measureStorage(database),
  };
}
