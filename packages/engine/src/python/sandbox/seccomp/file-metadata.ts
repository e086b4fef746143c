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

const ACCESS_AND_TRUNC = 0x203;
/** O_TRUNC with O_RDONLY, and with the access mode 3, which is neither reading nor writing (open(2)). */
const TRUNCATED = [0x200, 0x203];

/**
 * Before Linux 6.2, Landlock does not judge that a file is cut off, by its path or as it is opened for something else than writing: code of
 * an ordinary user would empty the files of the database. What openat2(2) is told lies in memory; who calls it falls back.
 */
export const CONTENT_STAYS: readonly Rule[] = [
  { calls: ["truncate"], verdict: "EPERM" },
  refuseTruncation("open", 1),
  refuseTruncation("openat", 2),
  { calls: ["openat2"], verdict: "ENOSYS" },
];

function refuseTruncation(call: "open" | "openat", argument: number): Rule {
  return {
    calls: [call],
    clauses: [{ when: [{ argument, mask: ACCESS_AND_TRUNC, isOneOf: TRUNCATED }], verdict: "EPERM" }],
    otherwise: "allow",
  };
}
