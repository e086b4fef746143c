import { statSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** A program and its arguments. */
export type Command = readonly [string, ...string[]];

/** The uid and gid of an ordinary user. */
export const ORDINARY_USER = 65_534;

const REPOSITORY = fileURLToPath(new URL("../../../..", import.meta.url)).replace(/\/$/u, "");
/**
 * In a mount namespace of its own: a device that every user may open, as udev makes it; another resolver, if one is named; and where the
 * repository is in a folder that only its owner may enter, such as the home of root, the repository alone in its place.
 */
const SCRIPT = `
umask 022
mount -t tmpfs none /dev/net
mknod -m 666 /dev/net/tun c 10 200
if [ -n "$1" ]; then mount --bind "$1" /etc/resolv.conf; fi
if [ -n "$2" ]; then
  mount --bind "$3" /mnt
  mount -t tmpfs -o mode=755 none "$2"
  mkdir -p "$3"
  mount --bind /mnt "$3"
  cd "$3"
fi
user=$4
shift 4
exec setpriv --reuid="$user" --regid="$user" --clear-groups "$@"
`;

/** The command, run by a user in the process that is started. Needs root. @param resolvConf a file that is shown to it in place of /etc/resolv.conf */
export function asUser(user: number, command: Command, resolvConf = ""): Command {
  const told = [resolvConf, findClosed(), REPOSITORY, String(user)];
  return ["unshare", "--mount", "sh", "-e", "-c", SCRIPT, "sh", ...told, ...command];
}

/** The same as an ordinary user. */
export function asOrdinaryUser(command: Command): Command {
  return asUser(ORDINARY_USER, command);
}

/** The topmost folder above the repository that only its owner may enter; empty: there is none. */
function findClosed(): string {
  const names = REPOSITORY.split("/").slice(1, -1);
  const above = names.map((_, index) => `/${names.slice(0, index + 1).join("/")}`);
  return above.find((path) => (statSync(path).mode & 0o001) === 0) ?? "";
}
