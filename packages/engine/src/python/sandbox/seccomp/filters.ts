import { CORE_LIMITS } from "./core-limit.ts";
import { CONTENT_STAYS, METADATA_STAYS } from "./file-metadata.ts";
import {
  JUDGED_CALLS,
  judgeClone,
  judgeSockets,
  judgeSocketsByPath,
  MOUNTS_OF_A_RUN,
  NO_EPOLL,
  NO_MORE_FILTERS,
  SETTINGS_OF_OTHERS,
  SETTINGS_OF_PARENT,
  SHARED_IPC,
  SIGNALS_TO_OTHERS,
  SIGNALS_TO_PARENT,
} from "./judged-calls.ts";
import { assembleProgram } from "./program.ts";
import type { Rule } from "./program.ts";
import { REFUSED_CALLS } from "./refused-calls.ts";
import type { Architecture } from "./syscalls.ts";

/**
 * What the kernel offers to the other runs of a sandbox: `hidden` by a pid namespace; `unsignalled`, as Landlock keeps signals
 * inside a run; `exposed` by neither.
 */
export type Siblings = "hidden" | "unsignalled" | "exposed";

/** What depends on whose network and which user a sandbox has. */
interface FilteredSandbox<Network> {
  readonly network: Network;
  /** `refused` where user code runs as the user of this process. */
  readonly epoll: Epoll;
}

interface ConfinedSandbox extends FilteredSandbox<"shared" | "refused"> {
  /** Where Landlock keeps no signals in, it does not keep them from the warden either. */
  readonly siblings: Exclude<Siblings, "hidden">;
}

/** Whether a sandbox may watch descriptors by epoll, which the kernel counts for each user of the host. */
export type Epoll = "allowed" | "refused";

/**
 * The filter of a whole sandbox, in force from its first program on: the bytes of an array of struct sock_filter. It lets the
 * zygote make the namespaces of runs; where runs have none, `createConfinedFilter` is the one to take.
 *
 * A list of what is refused, not of what is allowed: which calls the libraries of a service make is not known, and Docker's list
 * of the allowed ones has over 350. That such a list ages is met otherwise: calls that are newer than it do not exist.
 */
export function createBaseFilter(
  architecture: Architecture,
  { network, epoll }: FilteredSandbox<"own" | "shared">,
): Buffer {
  const rules = [UNSHARE_REFUSED, judgeClone(network), MOUNTS_OF_A_RUN, judgeSockets(network)];
  return assembleProgram([...EVERYWHERE, ...judgeEpoll(epoll), ...rules], architecture);
}

/**
 * What the filter of a child adds to that of its sandbox, once the child is prepared: no namespaces, no mounts and no filters at all. Filters
 * add up, and a short one is installed in a third of the time.
 */
export function createChildFilter(architecture: Architecture, siblings: Siblings): Buffer {
  return assembleProgram([...CHILD_RULES, ...NO_MORE_FILTERS, ...PROTECT_SIBLINGS[siblings]], architecture);
}

/** The filter of a sandbox without the exceptions for runs: nothing inside makes namespaces, as in builds. */
export function createClosedFilter(architecture: Architecture, epoll: Epoll): Buffer {
  const rules = [...CLOSED_RULES, ...judgeEpoll(epoll), ...NO_MORE_FILTERS, judgeSockets("shared")];
  return assembleProgram(rules, architecture);
}

/**
 * The filter of a sandbox that has no namespaces: a closed one that also keeps from what these would have separated, and from the warden. Where
 * epoll is refused, files and processes of the platform are of the same user.
 */
export function createConfinedFilter(
  architecture: Architecture,
  { network, epoll, siblings }: ConfinedSandbox,
): Buffer {
  const exposed = siblings === "exposed" ? [...SIGNALS_TO_PARENT, ...CONTENT_STAYS] : [];
  const ofUser =
    epoll === "refused" ? [...SETTINGS_OF_OTHERS, ...METADATA_STAYS, NO_EPOLL] : SETTINGS_OF_PARENT;
  const rules = [SHARED_IPC, ...ofUser, ...exposed, ...CLOSED_RULES, ...judgeSocketsByPath(network)];
  return assembleProgram(rules, architecture);
}

function judgeEpoll(epoll: Epoll): readonly Rule[] {
  return epoll === "allowed" ? [] : [NO_EPOLL];
}

const EVERYWHERE: readonly Rule[] = [...JUDGED_CALLS, ...REFUSED_CALLS];
const UNSHARE_REFUSED: Rule = { calls: ["unshare"], verdict: "EPERM" };
const CHILD_RULES: readonly Rule[] = [
  judgeClone(null),
  UNSHARE_REFUSED,
  { calls: ["mount"], verdict: "EPERM" },
];
const CLOSED_RULES: readonly Rule[] = [...EVERYWHERE, ...CHILD_RULES];

const PROTECT_SIBLINGS: Readonly<Record<Siblings, readonly Rule[]>> = {
  hidden: CORE_LIMITS,
  unsignalled: SETTINGS_OF_OTHERS,
  exposed: [...SETTINGS_OF_OTHERS, ...SIGNALS_TO_OTHERS],
};
