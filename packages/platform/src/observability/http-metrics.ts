import { SECOND } from "@platform/engine/base/time";
import type { HttpObserver } from "@platform/engine/http/request-observer";
import type { Collector } from "./exposition.ts";
import { createHistogram } from "./histogram.ts";
import type { Histogram } from "./histogram.ts";

/** Seconds. Long polls end up in the last ones. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 1, 5, 30, 60];

type ApiName = "gateway" | "platform";

/** Counts requests by operation and class of their status: as many series as there are operations, five times. */
export interface HttpMetrics {
  readonly observerOf: (api: ApiName) => HttpObserver;
  readonly collect: Collector;
}

interface OperationSeries {
  readonly api: ApiName;
  readonly operation: string;
  /** By the first digit of the status. */
  readonly classes: (Histogram | undefined)[];
}

/** Has counted nothing. */
export function createHttpMetrics(): HttpMetrics {
  const all: OperationSeries[] = [];
  return {
    observerOf: (api) => ({
      observe: (operation) => {
        const classes: (Histogram | undefined)[] = [];
        all.push({ api, operation, classes });
        return (status, milliseconds) => {
          const first = Math.trunc(status / 100);
          (classes[first] ??= createHistogram(BOUNDS)).observe(milliseconds / SECOND);
        };
      },
    }),
    collect: (exposition) => {
      for (const { api, operation, classes } of all)
        for (const [first, histogram] of classes.entries())
          if (histogram !== undefined)
            exposition.addHistogram(
              "platform_http_request_duration_seconds",
              { api, operation, status: `${first}xx` },
              histogram,
            );
    },
  };
}
