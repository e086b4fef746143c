/**
 * The least that a durable start with a fresh process costs: echo over HTTP, one committed insert, one fork.
 *   node bench/floor-server.ts SOCKET_DIRECTORY
 */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { argv, stdout } from "node:process";
import { createInterface } from "node:readline";
import { Pool } from "pg";

const FORKER = `
import os, sys
for line in sys.stdin:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    print(flush=True)
`;

const host = argv[2];
const pool = new Pool({ host, user: "platform", database: "postgres", max: 4 });
await pool.query("create table if not exists floor (id uuid primary key, body bytea)");

const forker = spawn("/usr/bin/python3", ["-I", "-S", "-c", FORKER], { stdio: ["pipe", "pipe", "inherit"] });
const waiting: (() => void)[] = [];
createInterface(forker.stdout).on("line", () => waiting.shift()?.());
const fork = () =>
  new Promise<void>((resolve) => {
    waiting.push(resolve);
    forker.stdin.write("\n");
  });

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat(chunks);
    void pool
      .query({
        name: "floor",
        text: "insert into floor (id, body) values ($1, $2)",
        values: [randomUUID(), body],
      })
      .then(fork)
      .then(() => response.end(body));
  });
}).listen(0, "127.0.0.1", () => stdout.write(`${(server.address() as AddressInfo).port}\n`));
