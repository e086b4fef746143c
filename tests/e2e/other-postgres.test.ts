import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { env, execPath } from "node:process";
import { promisify } from "node:util";
import { afterEach, describe, expect, test } from "vitest";
import { REPOSITORY, findFreePort } from "../../tools/platform-process.ts";
import { findOtherPostgres, startOtherPostgres } from "../support/other-postgres.ts";
import type { OtherPostgres } from "../support/other-postgres.ts";
import { createWorld } from "../support/world.ts";

const VITEST = join(REPOSITORY, "node_modules/vitest/vitest.mjs");
const programs = findOtherPostgres() ?? "";
const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function start(port: number): Promise<OtherPostgres> {
  const directory = await mkdtemp(join(tmpdir(), "platform-pg-"));
  cleanups.push(() => rm(directory, { recursive: true, force: true }));
  await chmod(directory, 0o755);
  const server = await startOtherPostgres(programs, join(directory, "server"), port);
  cleanups.push(server.stop);
  return server;
}

// Skipped where the machine has no PostgreSQL but ours: `apt-get install postgresql` brings one.
describe.skipIf(programs === "")("on a PostgreSQL of the operator's own, of an older release", () => {
  test("the platform works, restarts, and starts no server itself", async () => {
    const server = await start(await findFreePort());
    expect(server.version).toMatch(/PostgreSQL\) 1[5-7]\./);
    const environment = { DATABASE_URL: server.url };
    const world = await createWorld({ environment });
    cleanups.push(world.close);
    const project = await world.createProject("elsewhere", "def run(data: dict):\n    return data\n");
    const consumer = await world.subscribe((await world.deploy(project)).serviceKey);
    const { body } = await consumer.start({ data: { number: 7 } });
    expect((await consumer.finish(body.id)).status).toBe("SUCCEEDED");
    await world.platform.stop();
    await world.start({
      environment,
      gatewayPort: Number(new URL(world.platform.gatewayUrl).port),
      apiPort: Number(new URL(world.platform.apiUrl).port),
    });
    expect((await consumer.call("GET", `${body.id}/result`)).body["result"]).toEqual({ number: 7 });
    expect(existsSync(join(world.dataDirectory, "postgres"))).toBe(false);
  });

  test("the execution store keeps every promise of its conformance suite", { tags: "full" }, async () => {
    const server = await start(5432);
    const clean = Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("VITEST")));
    const { stdout } = await promisify(execFile)(
      execPath,
      [VITEST, "run", "--project", "unit", "packages/platform/src/store/executions/execution-store.test.ts"],
      {
        cwd: REPOSITORY,
        env: {
          ...clean,
          PLATFORM_TEST_REPORT: undefined,
          PLATFORM_TEST_SOCKET: server.socketDirectory,
          NO_COLOR: "1",
        },
      },
    );
    expect(stdout).toMatch(/Tests\s+[1-9]\d* passed \(\d+\)/);
  });
});
