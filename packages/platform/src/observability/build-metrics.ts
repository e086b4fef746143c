import { SECOND } from "@platform/engine/base/time";
import type { Collector } from "./exposition.ts";
import { createHistogram } from "./histogram.ts";
import type { Histogram } from "./histogram.ts";

/** Called when a build has ended and its end is stored. */
export type BuildObserver = (status: "SUCCEEDED" | "FAILED", milliseconds: number) => void;

/** Seconds. */
const BOUNDS = [1, 2.5, 5, 10, 30, 60, 120, 300, 900];

/** Has counted nothing. */
export function createBuildMetrics(): { readonly observer: BuildObserver; readonly collect: Collector } {
  const durations = new Map<string, Histogram>();
  return {
    observer: (status, milliseconds) => {
      const histogram = durations.get(status) ?? createHistogram(BOUNDS);
      durations.set(status, histogram);
      histogram.observe(milliseconds / SECOND);
    },
    collect: (exposition) => {
      for (const [status, histogram] of durations)
        exposition.addHistogram("platform_build_duration_seconds", { status }, histogram);
    },
  };
}
