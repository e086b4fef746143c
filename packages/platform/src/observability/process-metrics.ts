import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import process from "node:process";
import { SECOND } from "@platform/engine/base/time";
import type { Collector } from "./exposition.ts";

const MICROSECONDS = 1_000_000;
const NANOSECONDS = 1_000_000_000;
/** How often the loop is looked at, in milliseconds. */
const RESOLUTION_MS = 20;

/** Watches this process until `close`. What is measured since the last scrape begins anew with each. */
export function watchProcess(): { readonly collect: Collector; readonly close: () => void } {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  let before = performance.eventLoopUtilization();
  const startedAt = Date.now() / SECOND - process.uptime();
  return {
    close: () => void delay.disable(),
    collect: (exposition) => {
      const { user, system } = process.cpuUsage();
      const { rss, heapUsed, external } = process.memoryUsage();
      exposition.add("process_cpu_seconds_total", {}, (user + system) / MICROSECONDS);
      exposition.add("process_resident_memory_bytes", {}, rss);
      exposition.add("process_heap_bytes", {}, heapUsed);
      exposition.add("process_external_memory_bytes", {}, external);
      exposition.add("process_start_time_seconds", {}, startedAt);
      for (const percent of [50, 99, 100]) {
        // The timer's own period is in what is measured.
        const late = delay.percentile(percent) / NANOSECONDS - RESOLUTION_MS / SECOND;
        exposition.add(
          "platform_event_loop_delay_seconds",
          { quantile: String(percent / 100) },
          Math.max(0, late),
        );
      }
      delay.reset();
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, before);
      before = now;
      exposition.add("platform_event_loop_utilization", {}, utilization);
    },
  };
}
