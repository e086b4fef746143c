import type { Epoll } from "../python/sandbox/seccomp/filters.ts";
import type { SystemUser } from "./access.ts";
import type { BuildCommand } from "./build-command.ts";
import { CONSTRAINTS_FILE, REQUIREMENTS_FILE } from "./requirements.ts";
import type { Requirements } from "./requirements.ts";

/** One program of a build, and what its sandbox shows. */
export interface BuildStep {
  /** Names the step's own folder. */
  readonly name: string;
  /** Written to the log before it starts; "" for none. */
  readonly title: string;
  /** How the build fails when the program does; null: it goes on. */
  readonly failure: { readonly what: string; readonly advice: string } | null;
  /** Whether it has the network, and the credentials of package indexes. Never together with code of a package. */
  readonly network: boolean;
  /** Whether its program needs epoll, as uv does; missing: no. Never together with code of a package. */
  readonly needsEpoll?: boolean;
  /** Paths that it may read and write, besides its own folder. */
  readonly readable: readonly string[];
  readonly writable: readonly string[];
  /** The program, from what earlier steps left; null: there is nothing to do. */
  readonly prepare: () => Promise<BuildCommand | null>;
}

/** What epoll watches counts for the user: code of packages does not share that with this process. @param user null: that of this process */
export function chooseEpoll(
  user: SystemUser | null,
  { needsEpoll = false }: Pick<BuildStep, "needsEpoll">,
): Epoll {
  return user === null && !needsEpoll ? "refused" : "allowed";
}

/** How a step fails that makes the empty environment. */
export const CREATION_FAILURE = { what: "The Python environment could not be created", advice: "" };

/** How a step fails that downloads, or installs what was downloaded. */
export const INSTALLATION_FAILURE = { what: "The requirements could not be installed", advice: "" };

/** The same, where a package may be missing because only wheels count. */
export const WHEELS_FAILURE = {
  ...INSTALLATION_FAILURE,
  advice:
    'Only wheels are installed; if a package has none for this system, name another version of it, or set "sourceBuilds": true in platform.json to build it from its source.',
};

/** What is installed, as arguments that pip and uv both take: the canonical files, in the working directory. */
export function listInputs({ constraints, requiresHashes }: Requirements): readonly string[] {
  return [
    "--requirement",
    REQUIREMENTS_FILE,
    ...(constraints === "" ? [] : ["--constraint", CONSTRAINTS_FILE]),
    ...(requiresHashes ? ["--require-hashes"] : []),
  ];
}
