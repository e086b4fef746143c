import { lstatSync, mkdirSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/*
 * What every sandbox of bubblewrap shows of the host, as its arguments: the system's programs and libraries, read-only, and the few files of
 * /etc that libraries need. Nothing else of the host exists inside: no home, no data, no accounts, no configuration.
 */

const SYSTEM_LINKS = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
/** Without alternatives and ld.so.cache, numpy does not find its BLAS; without the last, glibc ignores the big-page tunable. */
const SYSTEM_PATHS = [
  "/etc/alternatives",
  "/etc/ld.so.cache",
  "/etc/localtime",
  "/sys/kernel/mm/transparent_hugepage",
];
/** How names are resolved and certificates checked. */
const NETWORK_PATHS = [
  "/etc/ssl",
  "/etc/pki",
  "/etc/ca-certificates",
  "/etc/resolv.conf",
  "/etc/hosts",
  "/etc/nsswitch.conf",
];

/** Devices of the host that programs without mounts write to. Not /dev/shm and /dev/tty: these are everybody's. */
export const DEVICES = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"] as const;

/** The system, read-only; with `network` also the files that programs with a network need. */
export function listSystem({ network }: { readonly network: boolean }): readonly string[] {
  const paths = network ? [...SYSTEM_PATHS, ...NETWORK_PATHS] : SYSTEM_PATHS;
  return [bind("/usr"), ...SYSTEM_LINKS.map(bindSystemLink), ...paths.map(bindIfPresent)].flat();
}

/** The same, for a sandbox without mounts: paths of the host that every version may read; some may be absent. */
export function listSystemPaths(): readonly string[] {
  return ["/usr", ...SYSTEM_LINKS, ...SYSTEM_PATHS, ...NETWORK_PATHS];
}

/** Libraries look up the name and home of the uid; the accounts of the host must not be visible. Written below `directory`. */
export function writeAccounts(directory: string, uid: number, gid: number): void {
  const folder = join(directory, "etc");
  mkdirSync(folder, { mode: 0o755 });
  writeFileSync(
    join(folder, "passwd"),
    `root:x:0:0:root:/root:/usr/sbin/nologin\nservice:x:${uid}:${gid}:service:/tmp:/bin/sh\n`,
    { mode: 0o644 },
  );
  writeFileSync(join(folder, "group"), `root:x:0:\nservice:x:${gid}:\n`, { mode: 0o644 });
}

/** Shows what `writeAccounts` wrote below `directory` as the accounts of the system. */
export function bindAccounts(directory: string): readonly string[] {
  return [
    ...bind(join(directory, "etc/passwd"), "/etc/passwd"),
    ...bind(join(directory, "etc/group"), "/etc/group"),
  ];
}

/** Shows a path of the host read-only. */
export function bind(path: string, inside = path): string[] {
  return ["--ro-bind", path, inside];
}

function bindIfPresent(path: string): string[] {
  return ["--ro-bind-try", path, path];
}

/** `/bin` and similar paths are links into /usr on merged systems, folders on others, and may be absent. */
function bindSystemLink(path: string): string[] {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return [];
  return stats.isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : bind(path);
}

/** Whether a path is the folder or lies in it. Compares the texts: both must be absolute and normal. */
export function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}
