import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdirSync, statSync } from "node:fs";
import { readFile, readdir, writeFile } from "node:fs/promises";
import { createServer, request as requestHttp } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { env, execPath } from "node:process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { request } from "../../tools/platform-client.ts";
import { CLI } from "../../tools/platform-process.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

const PART = 8 * 1024 * 1024;

let world: World;

beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world?.close());

const sha256 = (content: Buffer) => createHash("sha256").update(content).digest("hex");

async function run(...args: string[]) {
  const result = await world.cli(world.directory, "pools", ...args);
  expect([args, result.code, result.stderr]).toEqual([args, 0, expect.any(String)]);
  return result.stdout;
}
const runJson = async <T>(...args: string[]) => JSON.parse(await run(...args, "--json")) as T;
async function fail(...args: string[]) {
  const { code, stdout, stderr } = await world.cli(world.directory, "pools", ...args, "--json");
  return { exit: code, code: (JSON.parse(stdout) as { error: { code: string } }).error.code, stderr };
}

test("files are uploaded, listed, referred to, renamed, downloaded and deleted", async () => {
  const id = (await run("create", "Maps")).trim();
  await writeFile(join(world.directory, "a.json"), '{"a": 1}');
  await writeFile(join(world.directory, "b.bin"), randomBytes(PART + 10));
  const uploaded = await runJson<{ name: string; fileId: string; type: string }[]>(
    "upload",
    "maps",
    "a.json",
    "b.bin",
  );
  expect(uploaded).toMatchObject([
    { name: "a.json", type: "application/json", bytes: 8 },
    { name: "b.bin", type: "application/octet-stream", bytes: PART + 10 },
  ]);
  const again = await world.cli(world.directory, "pools", "upload", id, "a.json");
  expect([again.stdout, again.stderr]).toEqual([
    expect.stringContaining(uploaded[0]?.fileId ?? "none"),
    expect.stringContaining("is there already"),
  ]);
  expect(await run()).toMatch(/NAME +ORGANISATION +ROLE +FILES +SIZE +ID\nMaps +\S.* +owner +2 +8\.0 MB/u);
  expect(await run("ls", "Maps")).toMatch(/a\.json +8 B/u);
  const found = await run("ls", "Maps", "--search", "A.J");
  expect([found.includes("a.json"), found.includes("b.bin")]).toEqual([true, false]);
  expect(await run("ls", "Maps", "--search", "none")).toBe("No file of it has this in its name.\n");
  expect(await run("ls", "--search", "none")).toBe("No data pool has this in its name.\n");
  const reference = JSON.parse(await run("ref", "Maps", "a.json")) as object;
  expect(reference).toEqual({
    dataPoolId: id,
    dataSourceDescriptorId: expect.any(String),
    fileId: uploaded[0]?.fileId,
  });
  await run("rename", "Maps", "a.json", "what: is it?.json");
  await run("rename", "Maps", "Atlas");
  await run("download", "Atlas", "what: is it?.json");
  expect(await readFile(join(world.directory, "what_ is it_.json"), "utf8")).toBe('{"a": 1}');
  expect(await fail("download", "Atlas", "what: is it?.json")).toMatchObject({
    exit: 1,
    code: "FILE_EXISTS",
  });
  for (const folder of [".", "new/"]) {
    const refused = await fail("download", "Atlas", "b.bin", "-o", folder);
    expect(refused).toMatchObject({ exit: 1, code: "FILE_EXISTS" });
    expect(refused.stderr).toContain(`${JSON.stringify(join(folder, "b.bin"))} to store it there`);
  }
  expect((await fail("download", "Atlas", "b.bin", "-o", "a.json/b.bin")).stderr).toMatch(
    /a\.json' is no folder\./u,
  );
  expect((await world.cli(world.directory, "pools", "access", "Atlas")).stderr).toContain("pools share");
  await run("download", "Atlas", "b.bin", "-o", "away/copy.bin");
  expect(sha256(await readFile(join(world.directory, "away/copy.bin")))).toBe(
    sha256(await readFile(join(world.directory, "b.bin"))),
  );
  expect(await readdir(join(world.directory, "away"))).toEqual(["copy.bin"]);
  await run("rm", "Atlas", "b.bin");
  expect(await runJson("ls", "Atlas")).toHaveLength(1);
  expect(await fail("delete", "Atlas")).toMatchObject({ exit: 2, code: "USAGE" });
  await run("delete", "Atlas", "--yes");
  expect(await runJson()).toEqual([]);
});

test("what is wrong is said before anything is sent", async () => {
  await run("create", "Faults");
  expect(await fail("nonsense")).toMatchObject({
    exit: 1,
    code: "POOL_NOT_FOUND",
    stderr: expect.stringContaining("pools --help"),
  });
  expect(await fail("upload", "Faults", "missing")).toMatchObject({ exit: 1, code: "FILE_NOT_FOUND" });
  expect(await fail("upload", "Faults", ".")).toMatchObject({ exit: 1, code: "FILE_NOT_FOUND" });
  expect(await fail("upload", "Faults")).toMatchObject({ exit: 2, code: "USAGE" });
  await writeFile(join(world.directory, "c"), "c");
  expect(await fail("upload", "Faults", "c", "--name", "a/b")).toMatchObject({
    exit: 1,
    code: "INVALID_FILE_NAME",
  });
  expect(await fail("upload", "Faults", "c", "c", "--name", "d")).toMatchObject({ exit: 2, code: "USAGE" });
  expect(await fail("ref", "Faults", "nothing")).toMatchObject({ exit: 1, code: "FILE_NOT_FOUND" });
});

test("a name means a pool of the organisation's own, whatever others share with it; their pools are used by id", async () => {
  const { apiUrl } = world.platform;
  const { personalAccessToken: token, organizationId } = world.login;
  const stranger = await world.api<{ id: string }>("POST", "/organizations", { name: "Stranger Ltd" });
  const headers = { "x-organizationid": stranger.body.id };
  const createShared = async (name: string) => {
    const pools = `${apiUrl}/api/data-pools`;
    const { body } = await request<{ id: string }>("POST", pools, { token, headers, json: { name } });
    const share = `${pools}/${body.id}/shares/${organizationId}`;
    const shared = await request("PUT", share, { token, headers, json: { role: "maintainer" } });
    expect(shared.status).toBe(200);
    return body.id;
  };
  const theirs = [await createShared("Plans"), await createShared("Targets")];
  const own = (await run("create", "Plans")).trim();
  await writeFile(join(world.directory, "secret.json"), "{}");
  await run("upload", "plans", "secret.json");
  expect(await runJson("ls", own)).toHaveLength(1);
  expect(await runJson("ls", theirs[0] ?? "")).toEqual([]);

  for (const words of [
    ["upload", "Targets", "secret.json"],
    ["ls", "targets"],
    ["delete", "Targets", "--yes"],
  ])
    expect(await fail(...words)).toMatchObject({
      exit: 1,
      code: "POOL_NOT_FOUND",
      stderr: expect.stringContaining(`Targets (${theirs[1]}), shared by Stranger Ltd`),
    });
  expect(await runJson("ls", theirs[1] ?? "")).toEqual([]);
  await run("upload", theirs[1] ?? "", "secret.json");
  expect(await runJson("ls", theirs[1] ?? "")).toHaveLength(1);

  const listed = await run();
  expect(listed).toMatch(new RegExp(`Plans +\\S.* +owner +1 +2 B +${own}`, "u"));
  expect(listed).toMatch(new RegExp(`Plans +Stranger Ltd +maintainer +0 +0 B +${theirs[0]}`, "u"));
});

test("a pool is shared with organisations and granted to applications, by name or id, and taken back", async () => {
  const pool = (await run("create", "Rights")).trim();
  const guest = await world.api<{ id: string }>("POST", "/organizations", {
    name: "Guest Ltd",
    slug: "guest-ltd",
  });
  const shop = await world.api<{ id: string }>("POST", "/applications", { name: "rights shop" });
  const UNKNOWN = "00000000-0000-4000-8000-000000000000";
  const readAccess = () =>
    runJson<{ shares: { role: string }[]; grants: { access: string }[] }>("access", "Rights");

  expect(await runJson("share", "rights", "Guest Ltd")).toMatchObject({
    organizationId: guest.body.id,
    role: "viewer",
  });
  await run("share", pool, "guest-ltd", "--role", "maintainer");
  await run("grant", "Rights", "rights shop");
  expect(await readAccess()).toMatchObject({
    shares: [{ organizationName: "Guest Ltd", role: "maintainer" }],
    grants: [{ applicationId: shop.body.id, access: "read" }],
  });
  expect(await run("grant", "Rights", shop.body.id, "--write")).toContain("write");
  expect(await run("access", "Rights")).toMatch(
    /Guest Ltd +\(organisation\) +maintainer[^]*rights shop .* write /u,
  );

  expect(await fail("share", "Rights", "Nobody")).toMatchObject({ exit: 1, code: "ORGANISATION_NOT_FOUND" });
  expect(await fail("share", "Rights", UNKNOWN)).toMatchObject({ exit: 1, code: "NOT_FOUND" });
  expect(await fail("share", "Rights", "guest-ltd", "--role", "owner")).toMatchObject({
    exit: 2,
    code: "USAGE",
  });
  expect(await fail("grant", "Rights", "nobody")).toMatchObject({ exit: 1, code: "APPLICATION_NOT_FOUND" });
  expect(await fail("grant", "Rights", UNKNOWN)).toMatchObject({ exit: 1, code: "NOT_FOUND" });
  expect(await fail("unshare", "Rights", UNKNOWN)).toMatchObject({ exit: 1, code: "ORGANISATION_NOT_FOUND" });
  expect(await fail("revoke", "Rights", "nobody")).toMatchObject({ exit: 1, code: "APPLICATION_NOT_FOUND" });

  await run("revoke", "Rights", "rights shop");
  await run("unshare", "Rights", "Guest Ltd");
  expect(await readAccess()).toEqual({ shares: [], grants: [] });
});

interface Proxy {
  /** Headers of all requests of this method that it has let pass. */
  readonly headersOf: (method: string) => readonly NodeJS.Dict<string | string[]>[];
  readonly url: string;
  readonly close: () => void;
}

/**
 * Between CLI and platform. `onRequest`: false keeps the request without an answer; a promise breaks the answer off behind its first bytes,
 * when it resolves.
 */
async function startProxy(
  onRequest: (method: string, path: string, count: number) => boolean | Promise<void>,
): Promise<Proxy> {
  const target = new URL(world.platform.apiUrl);
  const seen: { readonly method: string; readonly headers: NodeJS.Dict<string | string[]> }[] = [];
  const counts = new Map<string, number>();
  const server = createServer((from, to) => {
    const { method = "", headers, url: path = "" } = from;
    counts.set(method, (counts.get(method) ?? 0) + 1);
    const passes = onRequest(method, path, counts.get(method) ?? 0);
    if (passes === false) return;
    seen.push({ method, headers });
    const sent = requestHttp(
      { host: target.hostname, port: target.port, method, path, headers },
      (answer) => {
        to.writeHead(answer.statusCode ?? 502, answer.headers);
        if (passes === true) answer.pipe(to);
        else
          answer.once("data", (chunk) => {
            to.write(chunk);
            void passes.then(() => to.destroy());
          });
      },
    );
    sent.on("error", () => to.destroy());
    from.pipe(sent);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    headersOf: (method) => seen.filter((each) => each.method === method).map(({ headers }) => headers),
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function startCli(endpoint: string, ...args: string[]) {
  return spawn(execPath, [CLI, "pools", ...args], {
    cwd: world.directory,
    env: {
      ...env,
      PLATFORM_CONFIG_DIR: join(world.directory, "cli"),
      PLATFORM_CACHE_DIR: join(world.directory, "cache"),
      PLATFORM_ENDPOINT: endpoint,
      PLATFORM_PERSONAL_ACCESS_TOKEN: world.login.personalAccessToken,
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
}

async function endOf(child: ReturnType<typeof startCli>) {
  let said = "";
  child.stderr.on("data", (chunk) => (said += String(chunk)));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, said };
}

test.each(["SIGKILL", "SIGINT"] as const)(
  "an upload that %s ended goes on where it ended, when the same command is run again",
  async (signal) => {
    await run("create", signal);
    const content = randomBytes(3 * PART + 5);
    await writeFile(join(world.directory, "large.bin"), content);
    let killed: ReturnType<typeof startCli> | undefined;
    const proxy = await startProxy((method, _path, count) => {
      if (method !== "PATCH" || count !== 3) return true;
      killed?.kill(signal);
      return false;
    });
    try {
      killed = startCli(proxy.url, "upload", signal, "large.bin");
      const { code, said } = await endOf(killed);
      expect([code, said]).toEqual([signal === "SIGINT" ? 130 : null, expect.any(String)]);
      expect(said).toContain(signal === "SIGINT" ? "goes on where it ended" : "");
      const next = await endOf(startCli(proxy.url, "upload", signal, "large.bin"));
      expect(next).toMatchObject({ code: 0 });
      expect(proxy.headersOf("PATCH").map((headers) => headers["upload-offset"])).toEqual(
        [0, 1, 2, 3].map((count) => String(count * PART)),
      );
    } finally {
      proxy.close();
    }
    expect(await runJson("ls", signal)).toMatchObject([{ name: "large.bin", sha256: sha256(content) }]);
    expect(await readdir(join(world.directory, "cache", "uploads"))).toEqual([]);
  },
);

test("a download that breaks off goes on where it broke, and is not seen before it is whole", async () => {
  await run("create", "Broken");
  const content = randomBytes(PART);
  await writeFile(join(world.directory, "broken.bin"), content);
  await run("upload", "Broken", "broken.bin");
  let cuts = 0;
  const folder = join(world.directory, "got");
  /** Bytes of the part. */
  const readArrived = () =>
    readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  let seenEarly: readonly string[] = [];
  const proxy = await startProxy((_method, path) => {
    if (!path.endsWith("/content")) return true;
    seenEarly = [...seenEarly, ...readdirSync(folder).filter((name) => name === "b.bin")];
    cuts += 1;
    if (cuts > 2) return true;
    const before = readArrived();
    return expect.poll(readArrived, { timeout: 60_000 }).toBeGreaterThan(before);
  });
  try {
    const { code, said } = await endOf(
      startCli(proxy.url, "download", "Broken", "broken.bin", "-o", "got/b.bin"),
    );
    expect([code, said]).toEqual([0, expect.any(String)]);
    const ranges = proxy.headersOf("GET").flatMap(({ range }) => (range === undefined ? [] : [range]));
    expect(ranges).toEqual([
      expect.stringMatching(/^bytes=[1-9]\d*-$/u),
      expect.stringMatching(/^bytes=[1-9]\d*-$/u),
    ]);
  } finally {
    proxy.close();
  }
  expect(seenEarly).toEqual([]);
  expect(await readdir(join(world.directory, "got"))).toEqual(["b.bin"]);
  expect(sha256(await readFile(join(world.directory, "got/b.bin")))).toBe(sha256(content));
});
