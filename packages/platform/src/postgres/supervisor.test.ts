import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, chown, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Client } from "pg";
import { afterEach, beforeEach, expect, test } from "vitest";
import { asOrdinaryUser, ORDINARY_USER } from "@platform/engine/testing/as-user";
import type { Command } from "@platform/engine/testing/as-user";
import { waitUntil } from "@platform/engine/testing/wait-until";
import { inspectProcess, readPostmaster } from "./postmaster.ts";
import type { SocketConnection } from "./server.ts";
import { startEmbeddedPostgres } from "./supervisor.ts";
import type { EmbeddedPostgres } from "./supervisor.ts";
import { createRecordingLogger } from "../testing/test-database.ts";

const MEMBER = new URL("../testing/postgres-member.ts", import.meta.url).pathname;

let root = "";
let directory = "";
const servers: EmbeddedPostgres[] = [];
const members: Member[] = [];

interface Member {
  readonly process: ChildProcess;
  readonly lines: Record<string, unknown>[];
  readonly ended: Promise<void>;
}

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "platform-supervisor-"));
  await chmod(root, 0o755);
  directory = join(root, "postgres");
});

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
  for (const member of members.splice(0)) {
    member.process.kill("SIGTERM");
    await member.ended;
  }
  const left = readPostmaster(join(directory, "data"));
  if (left !== null && (await inspectProcess(left.pid, join(directory, "data"))) === "postgres")
    process.kill(left.pid, "SIGQUIT");
  await rm(root, { recursive: true, force: true, maxRetries: 5 });
  if (left !== null) throw new Error("a server was left running");
});

async function start(options: { user?: string } = {}): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ directory, logger: createRecordingLogger(), ...options });
  servers.push(server);
  return server;
}

async function startMember(become = (command: Command) => command): Promise<Member> {
  const [program, ...args] = become([process.execPath, MEMBER, directory]);
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
  const lines: Record<string, unknown>[] = [];
  createInterface(child.stdout).on("line", (line) => lines.push(JSON.parse(line)));
  const ended = new Promise<void>((resolve) => {
    child.once("close", () => resolve());
  });
  const member = { process: child, lines, ended };
  members.push(member);
  await waitUntil(() => lines.some((line) => line["ready"] === true) || child.exitCode !== null);
  expect(lines.find((line) => line["ready"] === true)).toBeDefined();
  return member;
}

async function ask(connection: SocketConnection, text: string): Promise<string> {
  const client = new Client({ ...connection });
  client.on("error", () => undefined);
  await client.connect();
  try {
    const result = await client.query<unknown[]>({ text, rowMode: "array" });
    return `${result.rows[0]?.[0] as string | number}`;
  } finally {
    await client.end();
  }
}

async function readPid(): Promise<number> {
  return readPostmaster(join(directory, "data"))?.pid ?? 0;
}

test("a first start makes a database that survives a stop, with fsync on and no network port", async () => {
  const first = await start();
  await ask(first.connection, "create table kept as select 42 as answer");
  expect(await ask(first.connection, "show fsync")).toBe("on");
  expect(await ask(first.connection, "show listen_addresses")).toBe("");
  expect(await ask(first.connection, "show server_encoding")).toBe("UTF8");
  expect(
    await ask(first.connection, "select datcollate from pg_database where datname = current_database()"),
  ).toBe("C");
  const pid = await readPid();
  await first.stop();
  expect(await inspect(pid)).not.toBe("postgres");
  const second = await start();
  expect(await ask(second.connection, "select answer from kept")).toBe("42");
});

test("the data and the socket can be reached by the server's user only", async () => {
  const server = await start();
  expect((await stat(server.connection.host)).mode & 0o777).toBe(0o700);
  expect((await stat(join(directory, "data"))).mode & 0o777).toBe(0o700);
});

test("a second process on the same directory joins, and the server stays until the last one leaves", async () => {
  const owner = await start();
  const member = await startMember();
  expect(member.lines.find((line) => line["ready"] === true)).toMatchObject({
    isOwner: false,
    host: owner.connection.host,
  });
  const pid = await readPid();
  await owner.stop();
  expect(await inspect(pid)).toBe("postgres");
  member.process.kill("SIGTERM");
  await member.ended;
  expect(await inspect(pid)).not.toBe("postgres");
});

test("processes that start at the same moment share one server", async () => {
  const all = await Promise.all([startMember(), startMember(), startMember()]);
  const owners = all.filter(({ lines }) => lines.some((line) => line["isOwner"] === true));
  expect(owners).toHaveLength(1);
});

test("a server whose owner was killed is adopted by the next start", async () => {
  const member = await startMember();
  const pid = await readPid();
  member.process.kill("SIGKILL");
  await member.ended;
  expect(await inspect(pid)).toBe("postgres");
  const server = await start();
  expect(server.isOwner()).toBe(true);
  expect(await readPid()).toBe(pid);
});

test("a process that exits without leaving stops the server in order all the same", async () => {
  const member = await startMember();
  const pid = await readPid();
  member.process.kill("SIGUSR2");
  await member.ended;
  expect(await inspect(pid)).not.toBe("postgres");
  expect(await readFile(join(directory, "server.log"), "utf8")).toContain("database system is shut down");
});

test("a server that does not react any more does not outlive the process that exits", async () => {
  const member = await startMember();
  const pid = await readPid();
  process.kill(pid, "SIGSTOP");
  member.process.kill("SIGUSR2");
  await member.ended;
  expect(await inspect(pid)).not.toBe("postgres");
  await rm(join(directory, "data", "postmaster.pid"));
});

test("a process that exits leaves the server to the others that use it", async () => {
  const member = await startMember();
  const survivor = await start();
  const pid = await readPid();
  member.process.kill("SIGUSR2");
  await waitUntil(() => survivor.isOwner());
  expect(await readPid()).toBe(pid);
  expect(await ask(survivor.connection, "select 1")).toBe("1");
});

test.each(["data.new", "data", "data/postmaster.pid"])(
  "a start that is given up once %s is there leaves no server",
  async (path) => {
    const controller = new AbortController();
    const starting = startEmbeddedPostgres({
      directory,
      logger: createRecordingLogger(),
      signal: controller.signal,
    });
    const failed = starting.catch((error: unknown) => error);
    await waitUntil(() => existsSync(join(directory, path)));
    const pid = await readPid();
    controller.abort(new Error("no longer wanted"));
    expect(await failed).toEqual(new Error("no longer wanted"));
    expect(await readPid()).toBe(0);
    expect(pid === 0 ? "gone" : await inspect(pid)).not.toBe("postgres");
  },
);

test("a surviving process takes over when the owner was killed, and restarts the server when that dies too", async () => {
  const owner = await startMember();
  const survivor = await start();
  expect(survivor.isOwner()).toBe(false);
  owner.process.kill("SIGKILL");
  await waitUntil(() => survivor.isOwner());
  const pid = await readPid();
  process.kill(pid, "SIGKILL");
  await waitUntil(async () => {
    const current = await readPid();
    return current !== 0 && current !== pid && (await canAsk(survivor.connection));
  });
});

function inspect(pid: number, of = directory) {
  return inspectProcess(pid, join(of, "data"));
}

async function canAsk(connection: SocketConnection): Promise<boolean> {
  return ask(connection, "select 1").then(
    () => true,
    () => false,
  );
}

test("a killed server is started again by its owner and has kept what was committed", async () => {
  const server = await start();
  await ask(server.connection, "create table kept as select 42 as answer");
  const pid = await readPid();
  process.kill(pid, "SIGKILL");
  await waitUntil(async () => (await readPid()) !== pid && (await canAsk(server.connection)));
  expect(await ask(server.connection, "select answer from kept")).toBe("42");
});

test("a start after kill -9 of everything finds its data", async () => {
  const member = await startMember();
  const pid = await readPid();
  member.process.kill("SIGKILL");
  process.kill(pid, "SIGKILL");
  await member.ended;
  const server = await start();
  expect(await readPid()).not.toBe(pid);
  expect(await ask(server.connection, "select 1")).toBe("1");
});

test("a postmaster.pid that names a process which is not PostgreSQL does not stand in the way", async () => {
  const first = await start();
  await first.stop();
  servers.splice(0);
  await writeFile(
    join(directory, "data", "postmaster.pid"),
    `${process.pid}\n${directory}/data\n0\n5432\n\n`,
  );
  const second = await start();
  expect(await ask(second.connection, "select 1")).toBe("1");
});

test("lock files that name a process which can still be signalled do not stand in the way, as after kill -9 where nothing has read the exit status yet", async () => {
  const first = await start();
  await first.stop();
  servers.splice(0);
  const { uid, gid } = await stat(first.connection.host);
  const other = spawn("sleep", ["600"], { uid, gid });
  try {
    const lines = `${other.pid}\n${directory}/data\n0\n5432\n${first.connection.host}\n\n`;
    await writeFile(join(directory, "data", "postmaster.pid"), lines);
    await writeFile(join(first.connection.host, ".s.PGSQL.5432.lock"), lines);
    const second = await start();
    expect(await ask(second.connection, "select 1")).toBe("1");
  } finally {
    other.kill();
  }
});

test("a postmaster.pid that names the PostgreSQL of somebody else neither stops it nor waits for it", async () => {
  const foreign = join(root, "foreign");
  const other = await startEmbeddedPostgres({ directory: foreign, logger: createRecordingLogger() });
  try {
    const first = await start();
    await first.stop();
    servers.splice(0);
    const stale = await readFile(join(foreign, "data", "postmaster.pid"), "utf8");
    const pid = Number(stale.split("\n")[0]);
    // As after a power cut: our file, with the id that now belongs to another server; with and without our socket.
    for (const socket of [first.connection.host, "/var/run/postgresql"]) {
      const lines = stale.split("\n").with(1, join(directory, "data")).with(4, socket);
      await writeFile(join(directory, "data", "postmaster.pid"), lines.join("\n"));
      const second = await start();
      expect(await ask(second.connection, "select 1")).toBe("1");
      expect(await readPid()).not.toBe(pid);
      await second.stop();
      servers.splice(0);
    }
    expect(await inspect(pid, foreign)).toBe("postgres");
    expect(await ask(other.connection, "select 2")).toBe("2");
  } finally {
    await other.stop();
  }
});

test("an interrupted initdb is repeated", async () => {
  await mkdir(join(directory, "data.new", "base"), { recursive: true });
  const server = await start();
  expect(await ask(server.connection, "select 1")).toBe("1");
});

test("data of another major version is refused with the way to move it", async () => {
  const first = await start();
  await first.stop();
  servers.splice(0);
  await writeFile(join(directory, "data", "PG_VERSION"), "17\n");
  await expect(start()).rejects.toThrow(/written by PostgreSQL 17.*pg_dump.*pg_restore.*DATABASE_URL/su);
  await writeFile(join(directory, "data", "PG_VERSION"), "18\n");
});

test("a server that cannot start says why, and where the log is", async () => {
  const first = await start();
  await first.stop();
  servers.splice(0);
  const control = join(directory, "data", "global", "pg_control");
  const content = await readFile(control);
  await rm(control);
  await expect(start()).rejects.toThrow(/does not start.*server\.log.*pg_control.*DATABASE_URL/su);
  await writeFile(control, content);
});

test("a data directory whose path is too long for a socket gets a private one in the temp folder", async () => {
  directory = join(root, "x".repeat(120), "postgres");
  const server = await start();
  expect(server.connection.host.startsWith(tmpdir())).toBe(true);
  expect(await ask(server.connection, "select 1")).toBe("1");
  await server.stop();
  servers.splice(0);
  await chmod(server.connection.host, 0o755);
  await expect(start()).rejects.toThrow(/not a private folder/u);
  await rm(server.connection.host, { recursive: true });
});

test.skipIf(process.getuid?.() !== 0)("root runs the server as the ordinary user that is named", async () => {
  await start({ user: "nobody" });
  const status = await readFile(`/proc/${await readPid()}/status`, "utf8");
  expect(/^Uid:\s+(\d+)/mu.exec(status)?.[1]).toBe(String(ORDINARY_USER));
});

test.skipIf(process.getuid?.() !== 0)(
  "root runs the server under a uid that no other program has, and takes over data that belonged to nobody",
  async () => {
    const first = await start({ user: "nobody" });
    await ask(first.connection, "create table kept as select 42 as answer");
    await first.stop();
    servers.splice(0);
    const second = await start();
    expect(await ask(second.connection, "select answer from kept")).toBe("42");
    const status = await readFile(`/proc/${await readPid()}/status`, "utf8");
    const uid = /^Uid:\s+(\d+)/mu.exec(status)?.[1] ?? "";
    expect(await readFile("/etc/passwd", "utf8")).not.toMatch(new RegExp(`^[^:]*:[^:]*:${uid}:`, "mu"));
    for (const path of [join(directory, "data", "base"), second.connection.host])
      expect((await stat(path)).uid).toBe(Number(uid));
  },
);

test.skipIf(process.getuid?.() !== 0)(
  "root is told which folder keeps the server's user out, and who is missing",
  async () => {
    await chmod(root, 0o700);
    await expect(start()).rejects.toThrow(
      new RegExp(`may not enter ${root} .*chmod o\\+x.*DATABASE_URL`, "su"),
    );
    await expect(start({ user: "no-such-user-here" })).rejects.toThrow(/no ordinary user no-such-user-here/u);
  },
);

test.skipIf(process.getuid?.() !== 0)("an ordinary user runs the server as himself", async () => {
  await mkdir(directory);
  await chown(directory, ORDINARY_USER, ORDINARY_USER);
  await startMember(asOrdinaryUser);
  expect((await stat(join(directory, "data"))).uid).toBe(ORDINARY_USER);
});
