import type { MissingPiece, SandboxLevel } from "@platform/contract/sandbox";
import type { ConfinedSiblings } from "./confined.ts";

/** The kernel counts what epoll watches for each user alone. */
const NO_EPOLL =
  "They get no epoll (ENOSYS), with which one could end this worker: asyncio falls back to poll; what needs epoll (uvloop, Node.js) fails.";
/** At level C there is no user namespace that could bound a version. */
const SHARED_PROCESSES =
  " Each may add 1,024 to 2,048 processes and threads to those of that user: some together can keep everything else from starting.";
/** As its filter knows the warden of a version, but not the processes of its user. */
const EXPOSED =
  " This kernel's Landlock keeps no signals in, as Linux 6.12 does: code at import may end this worker and all processes of its user.";
const UNBOUNDED =
  " Code at import can take all user namespaces and processes of that user, so that nothing else starts while it runs.";

/** What else is known of a machine whose versions have no users of their own. */
interface SharedUser {
  /** Why a version cannot be given a bounded part of what the user has, as a sentence; null: it is. */
  readonly unbounded: string | null;
  /** At level C: whether Landlock keeps signals in. */
  readonly siblings: ConfinedSiblings;
}

/** What it means that versions have no users of their own. */
export function describeSharedUser(level: SandboxLevel, user: SharedUser): MissingPiece {
  return {
    piece: "users of their own",
    why: `Versions run as the user of this process. ${NO_EPOLL}${describeRest(level, user)}`,
    remedy: "Run the worker as root: each version then has a user of its own.",
  };
}

function describeRest(level: SandboxLevel, { unbounded, siblings }: SharedUser): string {
  if (level === "C") return `${SHARED_PROCESSES}${siblings === "exposed" ? EXPOSED : ""}`;
  return unbounded === null ? "" : `${UNBOUNDED} ${unbounded}`;
}
