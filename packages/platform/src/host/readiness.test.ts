import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createHttpServer } from "@platform/engine/http/server";
import { pino } from "pino";
import type { Role } from "../config/config.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";
import { createReadiness } from "./readiness.ts";

let home: TestDatabase;

beforeAll(async () => {
  home = await createTestDatabase({ isEmpty: true });
  // The first connection takes longest, and an answer has a second.
  await home.database.query({ text: "select 1" });
});

afterAll(() => home.close());

/** What a process with these roles answers to `GET /readyz`. */
function createProcess(...roles: readonly Role[]) {
  const stopping = new AbortController();
  const { database } = home;
  let diskFault: string | null = null;
  const disk = { describe: () => diskFault };
  let objectsFault: { readonly code: string; readonly detail: string } | null = null;
  const readiness = createReadiness({
    database,
    disk,
    explainObjects: () => objectsFault,
    roles: new Set(roles),
    stopping: stopping.signal,
  });
  const app = createHttpServer({ logger: pino({ level: "silent" }), ...readiness });
  /** Once more where the database was late: it has a second, and processors have pauses. */
  const ask = async () => {
    for (let tries = 1; ; tries++) {
      const response = await app.inject({ method: "GET", url: "/readyz" });
      if (tries === 20 || !response.body.includes("The database does not answer"))
        return [response.statusCode, response.json<unknown>()] as const;
    }
  };
  return {
    readiness,
    stopping,
    ask,
    fillDisk: () => (diskFault = FULL),
    loseObjects: () => (objectsFault = LOST),
  };
}

const LOST = { code: "OBJECTS_UNAVAILABLE", detail: "The store does not answer." };
const FULL = "The disk is full.";
const SICK = "The worker could not start anything.";

describe("GET /readyz", () => {
  test("says ready while every part works", async () => {
    const { readiness, ask } = createProcess("worker");
    readiness.watchWorker(() => null);
    expect(await ask()).toEqual([200, { status: "ready" }]);
  });

  test("says how well a process that runs user code isolates it, and what a better isolation needs", async () => {
    const { readiness, ask } = createProcess("worker");
    const missing = [{ piece: "Landlock", why: "The kernel is too old.", remedy: "Use 5.13." }] as const;
    readiness.addSandbox({ level: "B", missing });
    readiness.watchWorker(() => null);
    expect(await ask()).toEqual([200, { status: "ready", sandbox: { level: "B", missing } }]);
    expect((await createProcess("gateway").ask())[1]).toEqual({ status: "ready" });
  });

  test("is 503 and names the worker where a process is nothing but a worker that starts nothing", async () => {
    const { readiness, ask } = createProcess("worker", "builder");
    readiness.watchWorker(() => SICK);
    expect(await ask()).toEqual([
      503,
      expect.objectContaining({ code: "UNAVAILABLE", detail: `Not ready (worker): ${SICK}` }),
    ]);
  });

  test("sends nobody away from a gateway because of the worker beside it, but names it", async () => {
    const { readiness, ask } = createProcess("gateway", "worker");
    readiness.watchWorker(() => SICK);
    expect(await ask()).toEqual([200, { status: "degraded", faults: [{ part: "worker", detail: SICK }] }]);
  });

  test("names a disk without room, and is 503 where the process only does what needs it", async () => {
    const worker = createProcess("worker");
    const gateway = createProcess("gateway", "worker");
    worker.fillDisk();
    gateway.fillDisk();
    expect(await worker.ask()).toMatchObject([503, { detail: `Not ready (disk): ${FULL}` }]);
    expect(await gateway.ask()).toEqual([
      200,
      { status: "degraded", faults: [{ part: "disk", detail: FULL }] },
    ]);
  });

  test("names a store of objects that is away, with a code, and stays 200 also for a worker: it runs what is prepared", async () => {
    for (const role of ["gateway", "worker"] as const) {
      const { ask, loseObjects } = createProcess(role);
      loseObjects();
      expect(await ask()).toEqual([200, { status: "degraded", faults: [{ part: "objects", ...LOST }] }]);
    }
  });

  test("is 503 as soon as the process begins to stop", async () => {
    const { stopping, ask } = createProcess("gateway");
    stopping.abort();
    expect(await ask()).toEqual([
      503,
      expect.objectContaining({ detail: expect.stringContaining("stopping") }),
    ]);
  });

  test("is 503 when the database does not answer", async () => {
    const away = home.connect({ retryMilliseconds: 0 });
    await away.close();
    const readiness = createReadiness({
      database: away,
      disk: { describe: () => null },
      explainObjects: () => null,
      roles: new Set<Role>(["gateway"]),
      stopping: new AbortController().signal,
    });
    expect(await readiness.findFaults()).toMatchObject([{ part: "database", effect: "unready" }]);
  });
});
