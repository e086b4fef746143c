import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { findS3Server } from "../../../../tools/s3-server.ts";
import type { S3Settings } from "../config/object-settings.ts";
import { openFaultyProxy } from "./faulty-proxy.ts";
import type { FaultyProxy } from "./faulty-proxy.ts";

const SERVER = findS3Server();

/** Whether tools/s3-server.ts has built the server: tests that need it are skipped otherwise. */
export const HAS_S3_SERVER = SERVER !== null;

const KEYS = { accessKeyId: "test", secretAccessKey: "a secret of tests" };

/** An S3 server on a folder of its own, that is reached through a proxy. */
export interface S3Server {
  readonly proxy: FaultyProxy;
  /** Makes a bucket, and names it. */
  readonly makeBucket: (name: string) => Promise<S3Settings>;
  /** Folder of a bucket, in which its objects are files. */
  readonly folderOf: (bucket: string) => string;
  readonly close: () => Promise<void>;
}

/** @throws Error when it is missing */
export async function startS3Server(): Promise<S3Server> {
  if (SERVER === null) throw new Error("The S3 server is missing: node tools/s3-server.ts builds it.");
  const folder = await mkdtemp(join(tmpdir(), "s3-"));
  const [buckets, socket] = [join(folder, "buckets"), join(folder, "socket")];
  await mkdir(buckets);
  const child = spawn(SERVER, ["--port", socket, "--quiet", "--keep-alive", "posix", buckets], {
    stdio: "ignore",
    env: { ROOT_ACCESS_KEY: KEYS.accessKeyId, ROOT_SECRET_KEY: KEYS.secretAccessKey },
  });
  const gone = once(child, "exit");
  while (!(await isListening(socket))) {
    if (child.exitCode !== null) throw new Error("The S3 server has ended.");
    await delay(10);
  }
  const proxy = await openFaultyProxy(socket);
  return {
    proxy,
    makeBucket: async (bucket) => {
      await mkdir(join(buckets, bucket));
      return { bucket, prefix: "", endpoint: proxy.url, region: "us-east-1", credentials: KEYS };
    },
    folderOf: (bucket) => join(buckets, bucket),
    close: async () => {
      await proxy.close();
      child.kill("SIGKILL");
      await gone;
      await rm(folder, { recursive: true });
    },
  };
}

async function isListening(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
