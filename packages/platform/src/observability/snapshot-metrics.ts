import { SECOND } from "@platform/engine/base/time";
import { READINESS_PARTS } from "@platform/engine/http/server";
import { QUEUE_REASONS } from "../store/executions/measure-queue.ts";
import type { Exposition } from "./exposition.ts";
import type { Snapshot } from "./snapshot.ts";

/** @param wallNow milliseconds since the epoch */
export function collectSnapshot(
  exposition: Exposition,
  { queue, builds, faults, disk }: Snapshot,
  wallNow: number,
): void {
  const toAge = (since: number | undefined): number =>
    since === undefined ? 0 : Math.max(0, (wallNow - since) / SECOND);
  for (const reason of QUEUE_REASONS) {
    const part = queue.parts.find((one) => one.reason === reason);
    exposition.add("platform_queue_executions", { reason }, part?.count ?? 0);
    exposition.add("platform_queue_oldest_seconds", { reason }, toAge(part?.oldestAt));
  }
  exposition.add("platform_workers", {}, queue.workers);
  const pending = builds.find(({ status }) => status === "PENDING");
  const running = builds.find(({ status }) => status === "RUNNING");
  exposition.add("platform_builds", { status: "PENDING" }, pending?.count ?? 0);
  exposition.add("platform_builds", { status: "RUNNING" }, running?.count ?? 0);
  exposition.add("platform_build_oldest_seconds", {}, toAge(pending?.oldestAt));
  for (const part of READINESS_PARTS)
    exposition.add("platform_fault", { part }, faults.some((fault) => fault.part === part) ? 1 : 0);
  exposition.add("platform_disk_free_bytes", {}, disk.free);
  exposition.add("platform_disk_size_bytes", {}, disk.total);
}
