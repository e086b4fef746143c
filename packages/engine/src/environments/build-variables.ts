import type { Scratch } from "./build-folders.ts";

/** pip reads no configuration file then, neither the host's nor one that another step left in a home. */
const NO_CONFIGURATION = { PIP_CONFIG_FILE: "/dev/null" };

/** A repository that a requirement names is untrusted: what it refers to is fetched from web servers only, and nobody is asked. */
const CAREFUL_GIT = { GIT_ALLOW_PROTOCOL: "https:http", GIT_CONFIG_NOSYSTEM: "1", GIT_TERMINAL_PROMPT: "0" };

/** The complete environment of a step's program. `access` configures package indexes; null: the step has no network. */
export function createBuildVariables(
  { home, temporary }: Scratch,
  access: Readonly<Record<string, string>> | null,
): Record<string, string> {
  return {
    ...(access === null ? NO_CONFIGURATION : { ...access, ...CAREFUL_GIT }),
    PATH: "/usr/local/bin:/usr/bin:/bin",
    LANG: "C.UTF-8",
    HOME: home,
    TMPDIR: temporary,
    PIP_ROOT_USER_ACTION: "ignore",
    PYTHONUNBUFFERED: "1",
  };
}
