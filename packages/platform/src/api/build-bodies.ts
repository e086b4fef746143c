import { formatTimestamp, isFinal } from "@platform/contract/execution";
import type { Build, BuildSummary } from "@platform/contract/platform-api/builds";
import type { ListedBuild } from "../store/builds/build-history.ts";
import type { BuildRecord } from "../store/builds/builds.ts";

/** A build with lines of its log. */
export function toBuildBody(build: BuildRecord, log: readonly string[], nextOffset: number): Build {
  return { ...describe(build), log: [...log], nextOffset };
}

/** A build without its log. */
export function toBuildSummary(build: ListedBuild): BuildSummary {
  const { id, isForced, createdBy } = build;
  return { id, ...describe(build), isForced, createdBy };
}

function describe(build: BuildRecord) {
  return {
    version: build.version,
    status: build.status,
    terminal: isFinal(build.status),
    ...build.failure,
    ...(typeof build.buildsBefore === "number" ? { buildsBefore: build.buildsBefore } : {}),
    createdAt: formatTimestamp(build.createdAt),
    ...(build.startedAt === null ? {} : { startedAt: formatTimestamp(build.startedAt) }),
    ...(build.endedAt === null ? {} : { endedAt: formatTimestamp(build.endedAt) }),
  };
}
