import type { Rule } from "./program.ts";

/**
 * At level C, Landlock judges who reads and writes files, not who changes their permissions, owners, times and attributes: the owner may. Code
 * that runs as the user of the platform would be the owner of its data directory: it could close the folders of its siblings and of other
 * versions to them, and of the platform itself. Programs that copy or unpack files set them on each, so this seems to succeed, as on file
 * systems that have none (mount(8), `quiet` of vfat); libraries expect attributes to be refused.
 */
export const METADATA_STAYS: readonly Rule[] = [
  {
    calls: [
      ...(["chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat"] as const),
      ...(["utime", "utimes", "futimesat", "utimensat"] as const),
    ],
    verdict: "done",
  },
  {
    calls: ["setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr"],
    verdict: "EPERM",
  },
];
