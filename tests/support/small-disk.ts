import { execFileSync } from "node:child_process";
import { open, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import { getegid, geteuid } from "node:process";
import { Client } from "pg";

/** A tmpfs that exists in a mount namespace of its own: nothing is left of it when the processes in there are gone. */
export interface SmallDisk {
  /** The command that mounts it and runs what follows there. */
  readonly mountAt: (directory: string) => readonly [string, ...string[]];
}

const MOUNT = 'mount -t tmpfs -o "size=$0,mode=0755" tmpfs "$1" && shift && exec';

export function createSmallDisk(size: string): SmallDisk {
  const words =
    geteuid?.() === 0
      ? ["--mount", "sh", "-c", `${MOUNT} "$@"`]
      : [
          "--user",
          "--map-root-user",
          "--mount",
          "sh",
          "-c",
          // Only root of the namespace may mount; the platform is an ordinary user again.
          `${MOUNT} unshare --user --map-user=${geteuid?.()} --map-group=${getegid?.()} "$@"`,
        ];
  return { mountAt: (directory) => ["unshare", ...words, size, directory] };
}

/** Why there can be no small disk here; null where there can. */
export function findMountFault(): string | null {
  const [command, ...args] = createSmallDisk("1m").mountAt(tmpdir());
  try {
    execFileSync(command, [...args, "true"], { stdio: "pipe" });
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const MEGABYTE = 1024 * 1024;

/**
 * Appends to a file as much as was free when it began, but for the bytes to leave. Where PostgreSQL takes some meanwhile, so much of what
 * the platform gives back is taken instead, unless `isEnough`, which is asked before each megabyte.
 */
export async function fillDisk(
  pid: number,
  path: string,
  { leave = 0, isEnough = () => false }: { leave?: number; isEnough?: () => boolean } = {},
): Promise<void> {
  const target = `/proc/${pid}/root${path}`;
  const { bavail, bsize } = await statfs(dirname(target));
  const file = await open(target, "a");
  try {
    for (let left = bavail * bsize - leave; left > 0 && !isEnough(); left -= MEGABYTE)
      await file.writeFile(Buffer.alloc(Math.min(left, MEGABYTE), "x"));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
  } finally {
    await file.close();
  }
}

export async function freeDisk(pid: number, path: string): Promise<void> {
  await rm(`/proc/${pid}/root${path}`, { force: true });
}

/** More segments than a server keeps in stock for its log. */
const MAX_SEGMENTS = 100;

/**
 * Lets the embedded PostgreSQL begin one segment of its log (WAL) after the other until the disk has no room for another, which ends it.
 * Does nothing while it is down.
 */
export async function exhaustLog(pid: number, dataDirectory: string): Promise<void> {
  const host = `/proc/${pid}/root${dataDirectory}/postgres/socket`;
  const client = new Client({ host, user: "platform", database: "postgres" });
  client.on("error", () => undefined);
  try {
    await client.connect();
    for (let segment = 0; segment < MAX_SEGMENTS; segment++)
      await client.query("select pg_logical_emit_message(false, 'story', 'x'), pg_switch_wal()");
  } catch {
    return;
  } finally {
    await client.end().catch(() => undefined);
  }
  throw new Error("the disk had room for all segments");
}
