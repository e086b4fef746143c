import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, RequestListener, Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createCliHome } from "../testing/cli-process.ts";
import type { CliHome } from "../testing/cli-process.ts";
import { serveProject } from "../testing/served-project.ts";
import type { ServedProject } from "../testing/served-project.ts";

interface Report {
  readonly ok: number;
  readonly differs: number;
  readonly skipped: number;
  readonly checks: readonly {
    readonly name: string;
    readonly outcome: string;
    readonly difference?: string;
  }[];
}

const INPUT = ["-d", "{}", "-p", "{}"];

const find = ({ checks }: Report, wanted: string) => checks.find(({ name }) => name === wanted);

describe.each([
  ["takes its time", 0.5],
  // It has ended before it can be cancelled.
  ["is done at once", 0],
])("a served project that %s", (_, seconds) => {
  let project: ServedProject;
  beforeAll(async () => {
    project = await serveProject(
      `import time\ndef run(data: dict):\n    time.sleep(${seconds})\n    return {'n': 1}\n`,
    );
  });
  afterAll(() => project.close());

  test("keeps every promise of the service API", async () => {
    const { exitCode, stdout } = await project.home.run(["check", project.url, "--json", ...INPUT]);
    const report = JSON.parse(stdout) as Report;
    expect(report.checks.filter(({ outcome }) => outcome === "differs")).toEqual([]);
    const skipped = report.checks.filter(({ outcome }) => outcome === "skipped");
    // Without a token nothing can be said of tokens.
    expect(skipped.map(({ name }) => name)).toEqual(["token-missing", "token-wrong"]);
    expect(exitCode).toBe(0);
  });
});

describe("another server", () => {
  let home: CliHome;
  let server: Server | undefined;
  beforeAll(async () => {
    home = await createCliHome();
  });
  afterAll(() => home.close());
  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
  });

  /** Checks a server that answers so. */
  async function check(
    listener: RequestListener,
    ...flags: string[]
  ): Promise<Report & { exitCode: number | null }> {
    server = createServer(listener).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const words = ["check", `http://127.0.0.1:${port}/`, "--json", ...INPUT, ...flags];
    const { exitCode, stdout } = await home.run(words);
    return { ...(JSON.parse(stdout) as Report), exitCode };
  }

  test("that does not run is told at once, and nothing else is tried", async () => {
    const gone = createServer();
    await once(gone.listen(0, "127.0.0.1"), "listening");
    const { port } = gone.address() as AddressInfo;
    await new Promise((resolve) => gone.close(resolve));
    const { exitCode, stdout, stderr } = await home.run(["check", `http://127.0.0.1:${port}`, ...INPUT]);
    expect(stderr).toContain(
      `http://127.0.0.1:${port} cannot be reached: the connection was refused, no program listens there.`,
    );
    expect([exitCode, stdout]).toEqual([1, ""]);
  });

  test("that is no service differs in everything, and no check waits for what never was", async () => {
    const report = await check((_request, response) => void response.end("hello"));
    expect(report.exitCode).toBe(1);
    expect(report.ok).toBe(0);
    expect(find(report, "start")).toMatchObject({
      outcome: "differs",
      difference: "expected 201, got 200 hello",
    });
    expect(find(report, "state")?.outcome).toBe("skipped");
    expect(find(report, "method")?.difference).toBe("expected 405 METHOD_NOT_ALLOWED, got 200 hello");
  });

  test(
    "that breaks the connection, or sends without an end, is told apart from a service in bounded time",
    { tags: "full" },
    async () => {
      const broken = await check((request) => void request.socket.destroy());
      expect(find(broken, "start")?.difference).toContain("there was no answer");
      server?.close();
      const endless = await check((_request, response) => {
        const write = (): void => {
          while (!response.destroyed && response.write("x".repeat(1_048_576)));
          response.once("drain", write);
        };
        write();
      });
      expect(find(endless, "start")?.difference).toContain("larger than");
    },
  );

  const ID = "00000000-0000-7000-8000-00000000000";
  const TIMES = { createdAt: "2026-11-24 12:00:00", startedAt: "2026-11-24 12:00:00" };

  /** Nearly right: what a service in another language could be like. */
  function answerNearly(request: IncomingMessage, count: number): [number, object, Record<string, string>?] {
    const { method, url = "" } = request;
    const state = {
      id: `${ID}1`,
      status: "SUCCEEDED",
      ...TIMES,
      endedAt: "2026-11-24 12:00:01",
      terminal: true,
    };
    if (method === "POST" && request.headers["content-type"] === "application/json")
      // The id is missing from Location.
      return [
        201,
        { id: `${ID}${count % 9}`, status: "PENDING", ...TIMES, terminal: false },
        { location: "/x" },
      ];
    if (url === `/${ID}1`) return [200, { ...state, terminal: "yes" }, { etag: '"a"' }];
    if (url === "/openapi.json") return [200, { openapi: "3.1.0" }];
    if (url === "/no-uuid") return [404, { code: "EXECUTION_NOT_FOUND", message: "no detail" }];
    if (method === "DELETE") return [405, { code: "METHOD_NOT_ALLOWED", detail: "No." }];
    return [404, { code: "EXECUTION_NOT_FOUND", detail: "No." }];
  }

  test("that is nearly one is told what differs: the header, the field, the code", async () => {
    let count = 0;
    const report = await check((request, response) => {
      const [status, body, headers] = answerNearly(request, (count += 1));
      request.resume();
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(JSON.stringify(body));
    });
    expect(report.exitCode).toBe(1);
    expect(find(report, "openapi")?.outcome).toBe("ok");
    expect(find(report, "unknown")?.outcome).toBe("ok");
    expect(find(report, "start")?.difference).toMatch(/^got 201, but Location is "\/x"/);
    expect(find(report, "id-malformed")?.difference).toMatch(/^got 404, but "detail" is missing/);
    expect(find(report, "method")?.difference).toBe("got 405, but the header allow is missing");
    expect(find(report, "body-no-json")?.difference).toMatch(/^expected 400 INVALID_JSON, got 201/);
    expect(find(report, "list-limit")?.difference).toMatch(/^expected 400 INVALID_INPUT, got 404/);
  });

  test("that redirects is not followed: a client would lose the body of its start", async () => {
    const report = await check((_request, response) => {
      response.writeHead(308, { location: "http://127.0.0.1:1/" });
      response.end();
    });
    expect(find(report, "start")?.difference).toMatch(/^expected 201, got 308/);
  });

  test("is not asked where its address is none", async () => {
    for (const url of ["localhost", "ftp://localhost/"])
      expect((await home.run(["check", url, ...INPUT])).exitCode).toBe(2);
  });
});
