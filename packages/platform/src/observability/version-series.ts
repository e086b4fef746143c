import { createHistogram } from "./histogram.ts";
import type { Histogram } from "./histogram.ts";

/** What is counted of one version. */
export interface VersionSeries {
  started: number;
  /** Ends by status. */
  readonly ended: Map<string, number>;
  /** Seconds. */
  readonly waited: Histogram;
  readonly ran: Histogram;
}

/** How many versions have series of their own, and how long after their last execution, in milliseconds. */
export interface SeriesLimits {
  readonly versions: number;
  readonly idleMs: number;
}

/**
 * Series by version. Whoever deploys may deploy thousands of versions and call each of them: those that find no room are
 * counted together. What has not run for long makes room.
 */
export interface SeriesByVersion {
  readonly of: (versionId: string) => VersionSeries;
  /** By id of the version. */
  readonly list: () => ReadonlyMap<string, VersionSeries>;
  /** Of the versions that found no room. */
  readonly others: VersionSeries;
}

/** Seconds. */
const BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 1800, 7200];

/** @param now monotonic milliseconds */
export function createSeriesByVersion(limits: SeriesLimits, now: () => number): SeriesByVersion {
  const series = new Map<string, { readonly values: VersionSeries; usedAt: number }>();
  const others = createSeries();
  const dropIdle = (): void => {
    const before = now() - limits.idleMs;
    for (const [id, { usedAt }] of series) if (usedAt < before) series.delete(id);
  };
  return {
    others,
    of: (versionId) => {
      const known = series.get(versionId);
      if (known !== undefined) {
        known.usedAt = now();
        return known.values;
      }
      if (series.size >= limits.versions) return others;
      const values = createSeries();
      series.set(versionId, { values, usedAt: now() });
      return values;
    },
    list: () => {
      dropIdle();
      return new Map([...series].map(([id, { values }]) => [id, values]));
    },
  };
}

function createSeries(): VersionSeries {
  return {
    started: 0,
    ended: new Map(),
    waited: createHistogram(BOUNDS),
    ran: createHistogram(BOUNDS),
  };
}
