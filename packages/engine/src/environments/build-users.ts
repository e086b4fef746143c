import { randomInt } from "node:crypto";
import type { SystemUser } from "./access.ts";

/** Unix users without accounts: uids, and gids of the same numbers. */
export interface UidRange {
  readonly first: number;
  readonly count: number;
}

/** Gives each running build a user that no other build of this process has. */
export interface BuildUsers {
  /** One of them, to try what all can read. */
  readonly first: SystemUser;
  /** @throws Error when all are taken */
  readonly take: () => SystemUser;
  /** Gives a user back, once all of its processes have ended. */
  readonly release: (user: SystemUser) => void;
}

/** Begins at a random user, since other processes on this machine have the same range. */
export function createBuildUsers({ first, count }: UidRange): BuildUsers {
  const taken = new Set<number>();
  return {
    first: { uid: first, gid: first },
    take: () => {
      const start = randomInt(count);
      for (let index = 0; index < count; index += 1) {
        const uid = first + ((start + index) % count);
        if (taken.has(uid)) continue;
        taken.add(uid);
        return { uid, gid: uid };
      }
      throw new Error(`all ${count} uids for builds, from ${first} on, are in use`);
    },
    release: ({ uid }) => void taken.delete(uid),
  };
}
