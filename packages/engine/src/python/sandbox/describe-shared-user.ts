import type { MissingPiece, SandboxLevel } from "@platform/contract/sandbox";

/** The kernel counts what epoll watches for each user alone. */
const NO_EPOLL =
  "They get no epoll (ENOSYS), with which one could end this worker: asyncio falls back to poll; what needs epoll (uvloop, Node.js) fails.";
/** At level C nothing else keeps a version from what Landlock does not judge. */
const SHARED_FILES =
  " They may change the permissions, times and attributes of all its files, and the limits and priorities of its processes: all deployed code must be trusted.";
const UNBOUNDED =
  " Code at import can take all user namespaces and processes of that user, so that nothing else starts while it runs.";

/**
 * What it means that versions have no users of their own.
 *
 * @param unbounded why a version cannot be given a bounded part of what the user has, as a sentence; null: it is
 */
export function describeSharedUser(level: SandboxLevel, unbounded: string | null): MissingPiece {
  const more = level === "C" ? SHARED_FILES : unbounded === null ? "" : `${UNBOUNDED} ${unbounded}`;
  return {
    piece: "users of their own",
    why: `Versions run as the user of this process. ${NO_EPOLL}${more}`,
    remedy: "Run the worker as root: each version then has a user of its own.",
  };
}
