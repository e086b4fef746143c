import type { KeptDays } from "@platform/contract/execution";
import type { TargetService } from "@platform/contract/policy";
import { DEFAULT_TIMEOUT_SECONDS, isExternal, readResources } from "@platform/contract/project";
import type { Project, ProjectKind, Resources } from "@platform/contract/project";
import type { Environment } from "../environments/environment-folders.ts";
import type { RunnableVersion } from "../python/port/runtime.ts";

/** The properties of a version that a start needs; records of versions have this shape. */
export interface VersionTarget {
  readonly id: string;
  /** `MAJOR.MINOR.PATCH`; missing: it has no number. */
  readonly version?: string;
  /** vCPUs and GB. */
  readonly resources: Resources;
  readonly timeoutSeconds: number;
  /** JSON Schema of an object with `data` and `params`, derived from the type hints of `run`; null when it has none. */
  readonly inputSchema: Readonly<Record<string, unknown>> | null;
  /** Missing: of a service. */
  readonly kind?: ProjectKind;
  /** Whether its executions wait for jobs elsewhere; missing: they do not. */
  readonly isExternal?: boolean;
  /** Whether its executions have a price, which who starts them must count; missing: they have none. */
  readonly isPriced?: boolean;
  /** For how long the service keeps executions; missing: it says nothing. */
  readonly kept?: KeptDays;
  /** Whose version it is; missing: of a project that is being edited. */
  readonly service?: TargetService;
}

/** Adds the defaults of the contract to what `platform.json` leaves out. `timeoutSeconds`: wall-clock limit of a run. */
export function readVersionSettings(
  project: Project,
): Pick<RunnableVersion, "resources" | "startMode" | "network" | "output" | "isExternal"> &
  Pick<VersionTarget, "timeoutSeconds"> {
  return {
    resources: readResources(project),
    timeoutSeconds: project.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS,
    startMode: project.isolation === "spawn" ? "spawn" : "auto",
    network: project.network ?? null,
    output: project.output ?? null,
    isExternal: isExternal(project),
  };
}

/** A version whose files lie in `projectDirectory`, with the environment that was built for them. */
export function toRunnableVersion(
  {
    id,
    resources,
    startMode,
    network,
    output,
    isExternal: waits = false,
  }: Pick<RunnableVersion, "id" | "resources" | "startMode" | "network" | "output" | "isExternal">,
  projectDirectory: string,
  { interpreter, readablePaths }: Pick<Environment, "interpreter" | "readablePaths">,
): RunnableVersion {
  return {
    id,
    projectDirectory,
    interpreter,
    readablePaths,
    resources,
    variables: {},
    secrets: [],
    startMode,
    network,
    output,
    isExternal: waits,
  };
}
