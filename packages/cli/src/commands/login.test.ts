import { readFile, stat } from "node:fs/promises";
import { createServer } from "node:http";
import type { Server } from "node:http";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createCliHome } from "../testing/cli-process.ts";
import type { CliHome } from "../testing/cli-process.ts";
import { TOKEN, startPlatformPeer } from "../testing/platform-peer.ts";
import type { PlatformPeer } from "../testing/platform-peer.ts";

let home: CliHome;
let peer: PlatformPeer;
const servers: Server[] = [];

beforeEach(async () => {
  [home, peer] = await Promise.all([createCliHome(), startPlatformPeer()]);
});

afterEach(async () => {
  for (const server of servers.splice(0)) server.close();
  await Promise.all([home.close(), peer.close()]);
});

const login = (token: string) => home.run(["login", "-t", token, "--endpoint", peer.url, "--json"]);
const readStored = async () => readFile(join(home.configDirectory, "config.json"), "utf8");

async function startServer(status: number, headers: Record<string, string>, body: string): Promise<string> {
  const server = createServer((_request, response) => response.writeHead(status, headers).end(body));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no address");
  return `http://127.0.0.1:${address.port}`;
}

test("a login is checked first, then stored for its user alone", async () => {
  const { exitCode, stdout } = await login(TOKEN);

  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ endpoint: peer.url, user: { email: "ada@example.org" } });
  expect(stdout).not.toContain(TOKEN);
  expect(JSON.parse(await readStored())).toEqual({
    endpoint: peer.url,
    personalAccessToken: TOKEN,
    context: { id: "org-1", name: "Ada" },
  });
  expect((await stat(join(home.configDirectory, "config.json"))).mode & 0o777).toBe(0o600);
});

test("the token can come from standard input", async () => {
  const { exitCode } = await home.run(["login", "-t", "-", "--endpoint", peer.url], { input: `${TOKEN}\n` });
  expect(exitCode).toBe(0);
  expect(JSON.parse(await readStored())).toMatchObject({ personalAccessToken: TOKEN });
});

test("a wrong token is not stored, and the login of before stays", async () => {
  await login(TOKEN);
  const before = await readStored();
  const { exitCode, stdout } = await login("wrong");

  expect(exitCode).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: "UNAUTHENTICATED" } });
  expect(await readStored()).toBe(before);
});

test("an endpoint that does not answer is named as it was given, not as it is stored", async () => {
  await login(TOKEN);
  const closed = await startPlatformPeer();
  await closed.close();
  const { exitCode, stderr } = await home.run(["login", "-t", TOKEN, "--endpoint", closed.url]);

  expect(exitCode).toBe(1);
  expect(stderr).toContain(`The platform at ${closed.url} cannot be reached: the connection was refused`);
});

test("the address of the gateway is distinguished from that of the platform API", async () => {
  const body = JSON.stringify({ code: "NOT_FOUND", detail: "There is nothing at /api/me." });
  const gateway = await startServer(404, { "content-type": "application/json" }, body);
  const { exitCode, stderr } = await home.run(["login", "-t", TOKEN, "--endpoint", gateway]);

  expect(exitCode).toBe(1);
  expect(stderr).toContain(`There is no platform API at ${gateway}.`);
  expect(stderr).toContain("not of the gateway");
});

test("a token that goes over plain http to another machine is warned of, once a command", async () => {
  const endpoint = peer.url.replace("127.0.0.1", "0.0.0.0");
  const variables = { PLATFORM_ENDPOINT: endpoint, PLATFORM_PERSONAL_ACCESS_TOKEN: TOKEN };
  const { exitCode, stdout, stderr } = await home.run(["services", "--json"], { variables });

  expect(exitCode).toBe(0);
  expect(() => JSON.parse(stdout)).not.toThrow();
  expect(stderr.match(/is not encrypted/g)).toHaveLength(1);
  const loopback = await home.run(["services"], { variables: { ...variables, PLATFORM_ENDPOINT: peer.url } });
  expect(loopback.stderr).not.toContain("is not encrypted");
});

test("a refused token says to log in again and keeps the login", async () => {
  await login(TOKEN);
  const before = await readStored();
  const { exitCode, stderr } = await home.run(["whoami"], {
    variables: { PLATFORM_PERSONAL_ACCESS_TOKEN: "expired" },
  });

  expect(exitCode).toBe(1);
  expect(stderr).toContain("unset it and run 'platform login'");
  expect(await readStored()).toBe(before);
});

test("a platform that cannot be reached is named, and the login stays", async () => {
  await login(TOKEN);
  const before = await readStored();
  await peer.close();
  const { exitCode, stderr } = await home.run(["services"]);
  peer = await startPlatformPeer();

  expect(exitCode).toBe(1);
  expect(stderr).toContain("cannot be reached: the connection was refused");
  expect(await readStored()).toBe(before);
});

test.each([
  ["a page", 200, { "content-type": "text/html" }, "<html>"],
  ["a redirect to another place", 302, { location: "http://127.0.0.1:9/" }, ""],
])("%s is not taken for the platform's answer", async (_what, status, headers, body) => {
  const endpoint = await startServer(status, headers, body);
  const { exitCode, stderr } = await home.run(["login", "-t", TOKEN, "--endpoint", endpoint]);
  expect(exitCode).toBe(1);
  expect(stderr).toContain("not a platform API");
});

test("the environment wins over the stored login", async () => {
  const variables = {
    PLATFORM_ENDPOINT: `${peer.url}/api/`,
    PLATFORM_PERSONAL_ACCESS_TOKEN: TOKEN,
    PLATFORM_ORGANIZATION_ID: "org-2",
  };
  const { exitCode, stdout } = await home.run(["whoami", "--json"], { variables });
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    endpoint: peer.url,
    organization: { id: "org-2" },
    tokenFrom: "PLATFORM_PERSONAL_ACCESS_TOKEN",
  });
});

test("set-context chooses by name, slug or id, and the next command works in it", async () => {
  await login(TOKEN);
  const chosen = await home.run(["set-context", "Quantum Lab", "--json"]);
  expect(JSON.parse(chosen.stdout)).toMatchObject({ organization: { id: "org-2" } });
  const me = await home.run(["whoami", "--json"]);
  expect(JSON.parse(me.stdout)).toMatchObject({ organization: { name: "Quantum Lab" } });

  expect((await home.run(["set-context", "ada"])).stdout).toContain("Working in 'Ada' (org-1)");
  const unknown = await home.run(["set-context", "nobody"]);
  expect(unknown.exitCode).toBe(1);
  expect(unknown.stderr).toContain("Quantum Lab (org-2)");
  const unasked = await home.run(["set-context"]);
  expect(unasked.exitCode).toBe(2);
});

test("logout forgets token and context", async () => {
  await login(TOKEN);
  expect((await home.run(["logout", "--json"])).stdout).toContain('"wasLoggedIn": true');
  expect(JSON.parse(await readStored())).toEqual({ endpoint: peer.url });
  expect((await home.run(["whoami"])).exitCode).toBe(1);
});
