import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startLocalServer } from "../support/local-server.ts";
import type { LocalServer } from "../support/local-server.ts";

const MINUTE = 60_000;
const RUNS = 8;

let directory: string;
let local: LocalServer | undefined;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "platform-faults-"));
  await mkdir(join(directory, "tour", "src"), { recursive: true });
  await writeFile(join(directory, "tour", "platform.json"), '{"name": "tour", "runtime": "PYTHON_TEMPLATE"}');
  await writeFile(join(directory, "tour", "src/__init__.py"), "");
  await writeFile(join(directory, "tour", "src/program.py"), "def run():\n    return {'n': 1}\n");
});
afterEach(async () => {
  await local?.stop();
  await rm(directory, { recursive: true });
});

test(
  "a client author meets refused starts, lost workers and expired results on their own machine, the same ones each time",
  { timeout: 4 * MINUTE },
  async () => {
    const faults = "429@40%,worker-lost@30%,result-expired@30%";
    const play = async (): Promise<readonly string[]> => {
      const server = await startLocalServer(join(directory, "tour"), "--fault", faults, "--fault-seed", "3");
      local = server;
      const seen: string[] = [];
      for (let count = 0; count < RUNS; count += 1) {
        const started = await server.start({});
        if (started.status !== 201) {
          seen.push(String(started.body["code"]));
          continue;
        }
        const url = `${server.url}/${String(started.body["id"])}`;
        const read = async (path: string) => await fetch(`${url}${path}`, { headers: { prefer: "wait=30" } });
        await expect
          .poll(async () => (await read("")).json(), { timeout: MINUTE })
          .toMatchObject({ terminal: true });
        const { code = "SUCCEEDED" } = (await (await read("/result")).json()) as { code?: string };
        seen.push(code);
      }
      await server.stop();
      local = undefined;
      return seen;
    };
    const first = await play();
    expect(new Set(first)).toEqual(new Set(["RATE_LIMITED", "WORKER_LOST", "RESULT_EXPIRED", "SUCCEEDED"]));
    expect(await play()).toEqual(first);
  },
);
