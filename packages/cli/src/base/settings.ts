import envPaths from "env-paths";

/** Settings from environment variables. */
export interface Settings {
  /** Absolute folder of the configuration file. */
  readonly configDirectory: string;
  /** Absolute folder of the Python environments of `serve` and of notes of interrupted uploads, which can be deleted at any time. */
  readonly cacheDirectory: string;
  readonly personalAccessToken: string | undefined;
  readonly organizationId: string | undefined;
  readonly endpoint: string | undefined;
  /** The value of PATH. */
  readonly searchPath: string;
  /** All variables: builds of Python environments get those that configure access to a package index. */
  readonly hostVariables: Readonly<Record<string, string | undefined>>;
  readonly noColor: boolean;
  /** Whether to print stack traces of errors. */
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
