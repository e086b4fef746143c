import envPaths from "env-paths";

/** What the environment says; read once. */
export interface Settings {
  /** Absolute folder of the configuration file. */
  readonly configDirectory: string;
  /** Absolute folder of what can be made again: Python environments of `serve`. */
  readonly cacheDirectory: string;
  readonly personalAccessToken: string | undefined;
  readonly organizationId: string | undefined;
  readonly endpoint: string | undefined;
  /** The value of PATH. */
  readonly searchPath: string;
  /** All variables: those that say how to reach a package index are handed to builds of environments. */
  readonly hostVariables: Readonly<Record<string, string | undefined>>;
  readonly noColor: boolean;
  /** Show stacks of errors. */
  readonly isDebug: boolean;
}

/** Reads the environment; empty variables count as not set. */
export function readSettings(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Settings {
  const get = (name: string) => environment[name]?.trim() || undefined;
  const paths = envPaths("platform", { suffix: "" });
  return {
    configDirectory: get("PLATFORM_CONFIG_DIR") ?? paths.config,
    cacheDirectory: get("PLATFORM_CACHE_DIR") ?? paths.cache,
    personalAccessToken: get("PLATFORM_PERSONAL_ACCESS_TOKEN"),
    organizationId: get("PLATFORM_ORGANIZATION_ID"),
    endpoint: get("PLATFORM_ENDPOINT"),
    searchPath: environment["PATH"] ?? "",
    hostVariables: environment,
    noColor: get("NO_COLOR") !== undefined || get("TERM") === "dumb",
    isDebug: get("PLATFORM_DEBUG") !== undefined,
  };
}
