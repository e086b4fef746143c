import { hostname } from "node:os";
import process from "node:process";
import { SECOND } from "@platform/engine/base/time";
import manifest from "../../package.json" with { type: "json" };
import { readSpace } from "../base/files.ts";
import { PROCESS_REPORT_SECONDS } from "../store/instance/processes.ts";
import type { ProcessReport } from "../store/instance/processes.ts";
import { findBackendCapacity } from "../config/backend-settings.ts";
import type { Tools } from "./python.ts";
import type { Shared } from "./shared.ts";

/** Reports this process to the others until it stops, for operators. Failures are in the log; nothing else depends on it. */
export async function startPresence(shared: Shared, tools: Tools | null, id: string): Promise<void> {
  const { stores, closers, logger } = shared;
  const startedAt = Date.now();
  let reporting: Promise<void> = Promise.resolve();
  const report = async (): Promise<void> => {
    try {
      await stores.processes.report(await describe(shared, tools, { id, startedAt }));
    } catch (error) {
      logger.debug({ err: error }, "this process could not be reported to the others");
    }
  };
  const timer = setInterval(() => {
    reporting = reporting.then(report);
  }, PROCESS_REPORT_SECONDS * SECOND);
  closers.add("presence", async () => {
    clearInterval(timer);
    await reporting;
    await stores.processes.leave(id).catch((error: unknown) => {
      logger.debug({ err: error }, "this process could not be taken out of the list of processes");
    });
  });
  await report();
}

async function describe(
  { config, data, readiness }: Shared,
  tools: Tools | null,
  since: Pick<ProcessReport, "id" | "startedAt">,
): Promise<ProcessReport> {
  const [disk, faults] = await Promise.all([readSpace(data.root), readiness.findFaults()]);
  return {
    ...since,
    host: hostname(),
    pid: process.pid,
    roles: [...config.roles].toSorted(),
    version: manifest.version,
    disk,
    faults: faults.map(({ part, detail }) => ({ part, detail })),
    sandbox: tools === null ? null : tools.sandbox.report,
    python: tools === null ? null : tools.pythonVersion,
    backendCapacity: config.roles.has("worker") ? findBackendCapacity(config) : undefined,
  };
}
