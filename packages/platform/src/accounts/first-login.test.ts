import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, rmdir, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PoolClient } from "pg";
import { afterEach, beforeEach, expect, test } from "vitest";
import { recordSyncs } from "@platform/engine/testing/record-syncs";
import { waitUntil } from "@platform/engine/testing/wait-until";
import { MAINTENANCE } from "../postgres/limits.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";
import type { Bootstrapped } from "./bootstrap.ts";
import { provideFirstLogin } from "./first-login.ts";
import { createIdentity } from "./identity.ts";
import type { Identity } from "./identity.ts";

const MEMBER = new URL("../testing/first-login-member.ts", import.meta.url).pathname;

let home: TestDatabase;
let identity: Identity;
let directory: string;
let file: string;
let member: ChildProcess | null;
let blocker: PoolClient | null;

beforeEach(async () => {
  [member, blocker] = [null, null];
  home = await createTestDatabase();
  identity = createIdentity({ database: home.database });
  directory = await mkdtemp(join(tmpdir(), "first-login-"));
  file = join(directory, "login.json");
});

afterEach(async () => {
  member?.kill("SIGKILL");
  await releaseUsers();
  await home.close();
  await rm(directory, { recursive: true, force: true });
});

function provide(path = file): Promise<void> {
  return provideFirstLogin({
    file: path,
    identity,
    database: home.connect({ limits: MAINTENANCE }),
    urls: { apiUrl: "http://api.test:8090", gatewayUrl: "http://gateway.test:8080" },
    logger: home.logger,
  });
}

async function count(table: string): Promise<number | undefined> {
  const [row] = await home.database.query<{ count: number }>({
    text: `select count(*)::int as count from ${table}`,
  });
  return row?.count;
}

async function readLogin(): Promise<Bootstrapped & { readonly apiUrl: string }> {
  return JSON.parse(await readFile(file, "utf8"));
}

/** Whether the login in the file is that of the one user there is. */
async function expectLogin(): Promise<void> {
  const login = await readLogin();
  const verified = await identity.verifyToken(login.personalAccessToken);
  expect(await identity.findUser(verified?.userId ?? "")).toMatchObject({ email: login.email });
  expect(await identity.findMembership(verified?.userId ?? "", login.organizationId)).not.toBeNull();
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readdir(directory)).toEqual(["login.json"]);
  expect(await count("platform_user")).toBe(1);
}

/** Holds up every insert into the table of users until `releaseUsers`. */
async function blockUsers(): Promise<void> {
  // For as long as a process takes to start.
  blocker = await home.connect({ limits: MAINTENANCE }).pool.connect();
  await blocker.query("begin; lock table platform_user in exclusive mode");
}

async function releaseUsers(): Promise<void> {
  if (blocker === null) return;
  await blocker.query("rollback");
  blocker.release();
  blocker = null;
}

function startMember(): ChildProcess {
  const { host, database } = home.target;
  member = spawn(process.execPath, [MEMBER, host, database, file], { stdio: ["ignore", "inherit", "pipe"] });
  return member;
}

const isWritten = () =>
  readFile(`${file}.pending`, "utf8").then(
    (text) => text.includes("personalAccessToken"),
    () => false,
  );

test("an empty database gets its first user, and the file the login, once; later starts say why there is none", async () => {
  await Promise.all([provide(), provide()]);
  await expectLogin();
  const login = await readLogin();
  expect(login.apiUrl).toBe("http://api.test:8090");
  await rm(file);
  await provide();
  expect(await readdir(directory)).toEqual([]);
  expect(home.logger.entries.at(-1)?.message).toBe(
    "no first login was written: the database has users already",
  );
});

test.each([
  ["a folder that is not there", () => join(directory, "missing", "login.json")],
  ["a folder in its place", () => directory],
  ["a file in the place of its folder", () => join(directory, "taken", "login.json")],
])("a path that cannot be written is refused before anything is created: %s", async (_what, pathOf) => {
  await writeFile(join(directory, "taken"), "");
  await expect(provide(pathOf())).rejects.toThrow(/--bootstrap.*cannot be written/u);
  expect([await count("platform_user"), await count("personal_access_token")]).toEqual([0, 0]);
});

test.skipIf(process.getuid?.() === 0)("a folder that may not be written is refused as well", async () => {
  await chmod(directory, 0o500);
  await expect(provide()).rejects.toThrow(/--bootstrap.*cannot be written/u);
  expect(await count("platform_user")).toBe(0);
  await chmod(directory, 0o700);
});

test("a kill before the user is committed leaves no user, and the next start gives a login", async () => {
  await blockUsers();
  const killed = startMember();
  await waitUntil(isWritten);
  killed.kill("SIGKILL");
  await once(killed, "close");
  await releaseUsers();
  expect(await count("platform_user")).toBe(0);
  await provide();
  await expectLogin();
});

test("what was committed before the file had its name is finished by the next start", async () => {
  await blockUsers();
  const failing = startMember();
  await waitUntil(isWritten);
  // From here on the rename must fail, as if the process had ended before it.
  await mkdir(join(file, "in the way"), { recursive: true });
  await releaseUsers();
  const [code] = await once(failing, "close");
  expect(code).not.toBe(0);
  expect(await count("platform_user")).toBe(1);
  await rmdir(join(file, "in the way"));
  await rmdir(file);
  await provide();
  await expectLogin();
});

test("a login that was left behind and opens nothing is removed, not published", async () => {
  await provide();
  await expectLogin();
  await rm(file);
  await writeFile(`${file}.pending`, '{"personalAccessToken": "plat_pat_made-up"}');
  await provide();
  expect(await readdir(directory)).toEqual([]);
});

test.runIf(process.platform === "linux")(
  "the login is on the disk before its user is committed",
  async () => {
    const users: (number | undefined)[] = [];
    const syncs = await recordSyncs(async () => users.push(await count("platform_user")));
    await provide().finally(syncs.stop);
    expect(syncs.paths).toEqual([`${file}.pending`, directory, directory]);
    expect(users[0]).toBe(0);
  },
);
