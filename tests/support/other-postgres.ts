import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { chown, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { getuid } from "node:process";
import { setTimeout as delay } from "node:timers/promises";

/** Where Debian puts the servers of its releases; `.ci/run` installs one as root. */
const RELEASES = "/usr/lib/postgresql";
const POLL_MS = 50;

/** The folder of a server's programs that is not ours; null when this machine has none. */
export function findOtherPostgres(): string | null {
  const releases = existsSync(RELEASES) ? readdirSync(RELEASES) : [];
  const found = releases
    .filter((release) => Number(release) >= 15 && existsSync(join(RELEASES, release, "bin/initdb")))
    .toSorted((left, right) => Number(left) - Number(right))[0];
  return found === undefined ? null : join(RELEASES, found, "bin");
}

export interface OtherPostgres {
  readonly version: string;
  /** Has a superuser `platform`, no password, and an empty database `platform`. */
  readonly url: string;
  readonly socketDirectory: string;
  readonly stop: () => Promise<void>;
}

/** Starts a server of an operator's own below a folder, which must be open to other users. */
export async function startOtherPostgres(
  programs: string,
  directory: string,
  port: number,
): Promise<OtherPostgres> {
  const account = getuid?.() === 0 ? { uid: idOf("-u"), gid: idOf("-g") } : {};
  await mkdir(directory);
  if (account.uid !== undefined) await chown(directory, account.uid, account.gid);
  const options = { ...account, cwd: "/", env: { PATH: "/usr/bin:/bin", LC_ALL: "C" } };
  const run = (program: string, ...args: string[]) =>
    execFileSync(join(programs, program), args, { ...options, stdio: "pipe" }).toString();
  const data = join(directory, "data");
  run("initdb", "-D", data, "-U", "platform", "--auth=trust", "--no-sync");
  const settings = { listen_addresses: "127.0.0.1", port, unix_socket_directories: directory, fsync: "off" };
  const server = spawn(
    join(programs, "postgres"),
    ["-D", data, ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])],
    { ...options, stdio: "ignore" },
  );
  const gone = once(server, "exit");
  const client = ["-h", directory, "-p", String(port), "-U", "platform"];
  while (!isReady(() => run("pg_isready", ...client))) {
    if (server.exitCode !== null) throw new Error(`PostgreSQL of ${programs} does not start.`);
    await delay(POLL_MS);
  }
  run("createdb", ...client, "platform");
  return {
    version: run("postgres", "--version").trim(),
    url: `postgresql://platform@127.0.0.1:${port}/platform`,
    socketDirectory: directory,
    stop: async () => {
      server.kill("SIGQUIT");
      await gone;
    },
  };
}

/** PostgreSQL refuses to run as root. */
function idOf(flag: "-u" | "-g"): number {
  return Number(execFileSync("id", [flag, "nobody"]).toString());
}

function isReady(ask: () => unknown): boolean {
  try {
    ask();
    return true;
  } catch {
    return false;
  }
}
