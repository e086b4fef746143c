/*
 * A process of its own that starts executions of some subscriptions and ends them, for tests that kill it. Arguments: database
 * (as JSON), ids of the subscriptions. Starts no more of one whose cap is reached. Prints a line for each hundred starts.
 */
import { Problem } from "@platform/contract/problems";
import { createExecution } from "@platform/engine/testing/execution-fixtures";
import { createDatabase } from "../postgres/database.ts";
import { createPostgresExecutionStore } from "../store/executions/execution-store.ts";

const silent = () => undefined;
const logger = { debug: silent, info: silent, warn: silent, error: silent };
const [target = "", ...owners] = process.argv.slice(2);
const store = createPostgresExecutionStore({ database: createDatabase(JSON.parse(target), { logger }) });
const workerId = String(process.pid);
let started = 0;

async function start(ownerId: string): Promise<void> {
  const owner = { kind: "subscription", id: ownerId, organisationId: ownerId } as const;
  for (;;) {
    const isRefused = await store.create(createExecution({ owner })).then(
      () => false,
      (error: unknown) => error instanceof Problem && error.code === "QUOTA_EXCEEDED",
    );
    if (isRefused) return;
    started += 1;
    if (started % 100 === 0) process.stdout.write(`${started}\n`);
  }
}

/** Half of them end as failed by the platform. */
async function work(): Promise<void> {
  for (;;) {
    const { claims } = await store.claim({
      workerId,
      sandboxLevel: "B",
      limit: 20,
      free: { cpu: 1_000, memory: 1_000 },
      leaseSeconds: 1,
      excludedVersionIds: [],
    });
    await Promise.all(
      claims.map((claim, index) =>
        store.finish(claim, {
          status: "FAILED",
          code: index % 2 === 0 ? "NOT_STARTED" : "EXECUTION_ERROR",
          detail: "no",
          cpuSeconds: index / 1_000,
        }),
      ),
    );
    await new Promise((resolve) => setImmediate(resolve));
  }
}

await Promise.all([...owners.flatMap((owner) => Array.from({ length: 8 }, () => start(owner))), work()]);
