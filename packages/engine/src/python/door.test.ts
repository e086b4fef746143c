import { createServer } from "node:http";
import { afterEach, expect, test } from "vitest";
import type { SandboxLevel } from "@platform/contract/sandbox";
import { createFixture } from "../testing/python-fixture.ts";
import type { Fixture } from "../testing/python-fixture.ts";
import { canHaveEgress } from "../testing/version-runner.ts";
import type { QuantumAccess, RunnableVersion } from "./port/runtime.ts";
import type { Doorkeeper } from "../base/door.ts";

const HAS_EGRESS = await canHaveEgress();
const ACCESS = { token: "plat_run_x", published: true };

const ASK = `
import asyncio, http.client, os, socket, urllib.request

ENDPOINT = "http://127.0.0.1:890"

def read(path):
    token = os.environ["PLATFORM_SERVICE_EXECUTION_TOKEN"]
    asked = urllib.request.Request(os.environ["PLATFORM_ENDPOINT"] + path, headers={"X-Auth-Token": token})
    with urllib.request.urlopen(asked) as answer:
        return answer.read().decode()

async def read_asynchronously(path):
    reader, writer = await asyncio.open_connection("127.0.0.1", 890)
    writer.write(f"GET {path} HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n".encode())
    text = await reader.read()
    writer.close()
    return text.decode().rsplit("\\r\\n", 1)[-1].split("\\n")[0]

def read_in_fork(path):
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.write(writer, read(path).encode())
        os._exit(0)
    os.close(writer)
    os.wait()
    with open(reader) as file:
        return file.read()

def attempt(port):
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=2):
            return "connected"
    except OSError as error:
        return type(error).__name__

def keep_alive():
    connection = http.client.HTTPConnection("127.0.0.1", 890, timeout=20)
    texts = []
    for path in ("/quantum/a", "/quantum/b"):
        connection.request("GET", path)
        texts.append(connection.getresponse().read().decode())
    return texts

def names():
    return sorted(name for name, value in os.environ.items() if "890" in value or value.startswith("plat_run_"))

def run(data):
    return eval(data["do"])
`;

const fixtures: Fixture[] = [];
afterEach(async () => {
  for (const fixture of fixtures.splice(0)) await fixture.close();
});

/** What a run that succeeds has returned. */
async function ask(
  fixture: Fixture,
  version: RunnableVersion,
  action: string,
  quantum: QuantumAccess | null = ACCESS,
): Promise<unknown> {
  const given = { data: { do: action }, ...(quantum === null ? {} : { quantum }) };
  const { outcome, result } = await fixture.finish(version, given);
  expect(outcome).toMatchObject({ status: "SUCCEEDED" });
  return (result as { readonly value: unknown }).value;
}

/** Answers with the path and the token that it was asked with. */
function createKeeper(): Doorkeeper {
  const server = createServer(({ url = "", headers }, response) => {
    response.end(`${url} ${String(headers["x-auth-token"] ?? "nobody")}`);
  });
  return () => (connection) => {
    server.emit("connection", connection);
    return { isIdle: () => true };
  };
}

async function open(level: SandboxLevel = "B", doorkeeper: Doorkeeper | null = createKeeper()) {
  const fixture = await createFixture(doorkeeper === null ? {} : { doorkeeper }, level);
  fixtures.push(fixture);
  return fixture;
}

test.each<readonly [SandboxLevel, "none" | "egress"]>([
  ["B", "none"],
  ...(HAS_EGRESS ? ([["B", "egress"]] as const) : []),
  ["D", "none"],
])(
  "at level %s and with the network %s a run gets through the door, and no further",
  async (level, network) => {
    const fixture = await open(level);
    const version = fixture.createVersion(ASK, { network });
    expect(await ask(fixture, version, "read('/quantum/x')")).toBe("/quantum/x plat_run_x");
    expect(await ask(fixture, version, "asyncio.run(read_asynchronously('/quantum/y'))")).toBe(
      "/quantum/y nobody",
    );
    expect(await ask(fixture, version, "read_in_fork('/quantum/z')")).toBe("/quantum/z plat_run_x");
    expect(await ask(fixture, version, "keep_alive()")).toEqual(["/quantum/a nobody", "/quantum/b nobody"]);
    expect(await ask(fixture, version, "[attempt(890), attempt(891)]")).toEqual([
      "connected",
      expect.stringMatching(/Error$/u),
    ]);
  },
);

test("a fresh interpreter for each run gets through the door as well", async () => {
  const fixture = await open();
  const version = fixture.createVersion(ASK, { network: "none", startMode: "spawn" });
  expect(await ask(fixture, version, "read('/quantum/x')")).toBe("/quantum/x plat_run_x");
});

const OWN = ["PLATFORM_ENDPOINT", "PLATFORM_SERVICE_EXECUTION_TOKEN"];

test("published clients find what they read, unless the operator does not want that", async () => {
  const fixture = await open();
  const version = fixture.createVersion(ASK);
  const list = async (published: boolean) => await ask(fixture, version, "names()", { ...ACCESS, published });
  expect(await list(true)).toEqual([
    "KQH_SERVICE_EXECUTION_TOKEN",
    "PLANQK_QUANTUM_BASE_URL",
    "PLANQK_SERVICE_EXECUTION_TOKEN",
    ...OWN,
    "QHUB_QUANTUM_BASE_URL",
    "SERVICE_EXECUTION_TOKEN",
  ]);
  expect(await list(false)).toEqual(OWN);
});

test("a service that names another platform keeps its own, and gets no token for that", async () => {
  const fixture = await open();
  const list = async (variables: Record<string, string>) =>
    await ask(fixture, fixture.createVersion(ASK, { variables }), "names()");
  expect(await list({ QHUB_QUANTUM_BASE_URL: "https://example.org" })).toEqual(OWN);
  expect(await list({ PLATFORM_ENDPOINT: "https://example.org" })).not.toContain(OWN[1]);
});

test("a run without access, and one whose sandbox has no door, finds nothing", async () => {
  const [closed, doorless] = [await open(), await open("B", null)];
  expect(await ask(closed, closed.createVersion(ASK), "names()", null)).toEqual([]);
  expect(await ask(doorless, doorless.createVersion(ASK), "names()")).toEqual([]);
});

test("without namespaces, a run could name sockets of the host: it has no door", async () => {
  const fixture = await open("C");
  expect(await ask(fixture, fixture.createVersion(ASK), "names()")).toEqual([]);
});

test("connections that are kept open take neither the door from others nor the end from the sandbox", async () => {
  const fixture = await open();
  const hold = `[socket.create_connection(("127.0.0.1", 890)) for _ in range(200)] and "held"`;
  const version = fixture.createVersion(ASK, { network: "none" });
  expect(await ask(fixture, version, hold)).toBe("held");
  expect(await ask(fixture, version, "read('/quantum/x')")).toBe("/quantum/x plat_run_x");
});
