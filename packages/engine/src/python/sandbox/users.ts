import { randomInt } from "node:crypto";
import { chmodSync, chownSync } from "node:fs";
import type { Epoll } from "./seccomp/filters.ts";

/** The user that one sandbox runs as. */
export interface SandboxUser {
  readonly uid: number;
  readonly gid: number;
  /** Whether the program is to be started as another user than this process. */
  readonly isOwn: boolean;
  /** Refused to code that is not trusted and runs as the user of this process: it could take what the kernel counts for that user. */
  readonly epoll: Epoll;
  /** Gives the folder to the user, and closes it to others. */
  readonly own: (folder: string) => void;
  /**
   * Lets the user enter the folder, or make files in it as well. It may not list one in which it makes files. Where the user is another one than
   * that of this process, it may list neither, nor change permissions, times and attributes.
   */
  readonly admit: (folder: string, may: "enter" | "create") => void;
  /** Call it once every process of the sandbox has ended. */
  readonly release: () => void;
}

/** Hands out the user of a sandbox. @throws Error when all of the range are in use */
export type TakeUser = () => SandboxUser;

/** Where the users of sandboxes come from. */
interface SandboxUsersOptions {
  /** First host uid (and gid) of the range that versions run as, used only when this process is root. */
  readonly uidBase: number;
  /** Maximum number of sandboxes at once. */
  readonly uidCount: number;
  /** This process' own uid and gid. */
  readonly uid: number;
  readonly gid: number;
  /** Whether all code that runs in sandboxes is trusted. */
  readonly trustsCode: boolean;
}

/**
 * A user for each sandbox when this process is root; the user of this process otherwise. Begins at a random one each time: other workers on this
 * machine have the same range, and what the kernel counts for a user, or lets it change, would be one for versions of both.
 */
export function createSandboxUsers({
  uidBase,
  uidCount,
  uid,
  gid,
  trustsCode,
}: SandboxUsersOptions): TakeUser {
  const taken = new Set<number>();

  function takeUid(): number {
    const start = randomInt(uidCount);
    for (let index = 0; index < uidCount; index += 1) {
      const candidate = uidBase + ((start + index) % uidCount);
      if (taken.has(candidate)) continue;
      taken.add(candidate);
      return candidate;
    }
    throw new Error(`all ${uidCount} uids from ${uidBase} on are in use`);
  }

  return () => {
    if (uid !== 0)
      return {
        uid,
        gid,
        isOwn: false,
        epoll: trustsCode ? "allowed" : "refused",
        own: closeToOthers,
        admit: (folder, may) => chmodSync(folder, may === "enter" ? 0o700 : 0o300),
        release: () => undefined,
      };
    const own = takeUid();
    return {
      uid: own,
      gid: own,
      isOwn: true,
      epoll: "allowed",
      own: (folder) => {
        closeToOthers(folder);
        chownSync(folder, own, own);
      },
      admit: (folder, may) => {
        chownSync(folder, 0, own);
        // In a folder with the sticky bit, attributes need its owner (xattr(7)).
        chmodSync(folder, may === "enter" ? 0o710 : 0o1730);
      },
      release: () => void taken.delete(own),
    };
  };
}

function closeToOthers(folder: string): void {
  chmodSync(folder, 0o700);
}
