import { resolve } from "node:path";
import { V1_CONTROLLERS } from "./v1-controllers.ts";
import type { V1Folders } from "./v1-controllers.ts";

/** The folders of the groups that this process is in. */
export type OwnGroups =
  | { readonly version: 1; readonly folders: V1Folders }
  /** `top`: the mount's folder, which is the root of the whole hierarchy unless a container sees only a part of it. */
  | { readonly version: 2; readonly folder: string; readonly top: string };

/** A mounted hierarchy. */
interface Mount {
  readonly folder: string;
  /** The group that the mount shows as its root. */
  readonly root: string;
  readonly version: 1 | 2;
  /** Its v1 controllers. */
  readonly controllers: readonly string[];
}

/**
 * Finds the groups of a process. Where controllers are in use by v1 and v2 at once ("hybrid"), v1 has them.
 *
 * @param mountinfo content of /proc/self/mountinfo
 * @param membership content of /proc/self/cgroup
 * @returns null where neither all the v1 controllers nor v2 are mounted
 */
export function locateGroups(mountinfo: string, membership: string): OwnGroups | null {
  const mounts = readMounts(mountinfo);
  const paths = readMembership(membership);
  const folders = V1_CONTROLLERS.map((controller) => {
    const mount = mounts.find(
      ({ version, controllers }) => version === 1 && controllers.includes(controller),
    );
    return findFolder(mount, paths.get(controller));
  });
  const [memory, cpu, cpuacct, pids] = folders;
  if (memory && cpu && cpuacct && pids) return { version: 1, folders: { memory, cpu, cpuacct, pids } };
  const unified = mounts.find(({ version }) => version === 2);
  const folder = findFolder(unified, paths.get(""));
  return unified === undefined || folder === null ? null : { version: 2, folder, top: unified.folder };
}

/** One line a mount: `36 31 0:33 /root /mount/point options - type source super-options` (proc_pid_mountinfo(5)). */
function readMounts(mountinfo: string): readonly Mount[] {
  return mountinfo.split("\n").flatMap((line): readonly Mount[] => {
    const [before = "", after = ""] = line.split(" - ");
    const [, , , root, folder] = before.split(" ");
    const [type, , options = ""] = after.split(" ");
    if (root === undefined || folder === undefined) return [];
    if (type === "cgroup") return [{ root, folder, version: 1, controllers: options.split(",") }];
    return type === "cgroup2" ? [{ root, folder, version: 2, controllers: [] }] : [];
  });
}

/** Controller -> path of the group; "" is v2 (cgroups(7)). */
function readMembership(membership: string): ReadonlyMap<string, string> {
  const entries = membership.split("\n").flatMap((line) => {
    const [, controllers, ...path] = line.split(":");
    if (controllers === undefined) return [];
    return controllers.split(",").map((controller) => [controller, path.join(":")] as const);
  });
  return new Map(entries);
}

/** A container may see only a part of the hierarchy; null when the own group is not in it. */
function findFolder(mount: Mount | undefined, path: string | undefined): string | null {
  if (mount === undefined || path === undefined || path.startsWith("/..")) return null;
  const root = mount.root === "/" ? "" : mount.root;
  if (path !== root && !path.startsWith(`${root}/`)) return null;
  return resolve(mount.folder, `.${path.slice(root.length)}`);
}
