import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What user code must not reach, made open to every user of the host: only a sandbox is in the way. */
export interface HostVictims {
  /** Stands in the files and in the environment of the process. */
  readonly secret: string;
  /** A file as in the data directory, one as in a home, and files of the host. */
  readonly files: readonly string[];
  /** A socket as PostgreSQL's. */
  readonly socket: string;
  /** Host pids of a process of the host's root or user, and of this process. */
  readonly pids: readonly number[];
  /** Connections that the socket has seen. */
  readonly visits: () => number;
  readonly isAlive: () => boolean;
  readonly close: () => Promise<void>;
}

/** Close it: it has a process and a server. */
export async function createHostVictims(): Promise<HostVictims> {
  const directory = mkdtempSync(join(tmpdir(), "victims-"));
  chmodSync(directory, 0o755);
  const secret = randomBytes(16).toString("hex");
  const files = [join(directory, "data", "secret"), join(directory, "home", ".ssh", "id_ed25519")];
  for (const file of files) {
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, secret);
  }
  const socket = join(directory, ".s.PGSQL.5432");
  let visits = 0;
  const server = createServer((connection) => {
    visits += 1;
    connection.on("error", () => undefined).end(secret);
  }).listen(socket);
  await once(server, "listening");
  chmodSync(socket, 0o777);
  const victim = spawn("sleep", ["1000"], { stdio: "ignore", env: { SECRET: secret } });
  await once(victim, "spawn");
  return {
    secret,
    files: [...files, "/etc/shadow", "/root/.bashrc", "/proc/1/environ"],
    socket,
    pids: [victim.pid ?? 0, process.pid],
    visits: () => visits,
    isAlive: () => victim.exitCode === null && victim.signalCode === null,
    close: async () => {
      victim.kill("SIGKILL");
      server.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
