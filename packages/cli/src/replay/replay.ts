import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unpackProject } from "@platform/engine/project/unpack";
import type { Output } from "../base/output.ts";
import type { Session } from "../base/session.ts";
import { ENVIRONMENT_FILE } from "../serve/environment-file.ts";
import { startLocalServer } from "../serve/local-server.ts";
import type { LocalServerOptions } from "../serve/local-server.ts";
import { compareRuns } from "./compare-runs.ts";
import type { RunComparison } from "./compare-runs.ts";
import { fetchOriginal } from "./fetch-original.ts";
import { runLocal } from "./run-local.ts";

/** What is replayed, and with what. */
export interface ReplayGiven extends Pick<
  LocalServerOptions,
  | "dataPoolsDirectory"
  | "settings"
  | "output"
  | "signal"
  | "runnerDirectory"
  | "docsDirectory"
  | "jsonThreadFile"
> {
  readonly id: string;
  readonly timeoutSeconds: number;
  /** Absolute; null: the program gets no variables. */
  readonly environmentFile: string | null;
}

/** An execution was repeated. */
export interface ReplayResult extends RunComparison {
  readonly service: string;
  readonly version: string;
  /** Of this machine. */
  readonly python: string;
}

/**
 * Fetches version and input of an execution, and runs it as `platform serve` would, in a folder that is gone afterwards.
 *
 * @throws UserError and ProjectError as `fetchOriginal`, `unpackProject`, `startLocalServer` and `runLocal` do
 */
export async function replay(session: Session, given: ReplayGiven): Promise<ReplayResult> {
  const { id, timeoutSeconds, environmentFile, ...machine } = given;
  const directory = await mkdtemp(join(tmpdir(), "platform-replay-"));
  try {
    const archive = join(directory, "archive.zip");
    const original = await fetchOriginal(session, id, archive);
    const project = join(directory, "project");
    await unpackProject(archive, project);
    if (environmentFile !== null) await copyFile(environmentFile, join(project, ENVIRONMENT_FILE));
    const server = await startLocalServer({
      ...machine,
      projectDirectory: project,
      host: "127.0.0.1",
      allowedHosts: [],
      port: 0,
      faults: [],
      faultSeed: 0,
      policy: null,
      webhooks: null,
      quantum: null,
      output: toNotes(given.output),
    });
    try {
      const local = await runLocal({
        url: server.url,
        body: original.body,
        timeoutSeconds,
        signal: given.signal,
      });
      const { service, version } = original.details;
      return {
        ...compareRuns(original, local),
        service: service.name,
        version,
        python: server.pythonVersion,
      };
    } finally {
      await server.close();
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** The log of the run is seen; what the command prints is the comparison. */
function toNotes(output: Output): Output {
  return { ...output, print: output.note };
}
