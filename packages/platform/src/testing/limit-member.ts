/*
 * A process of its own that starts executions of services with limits, releases and runs them, for tests that kill it. Arguments: database (as
 * JSON), services (of each key, one after the other), and how many it starts of each. Prints a line when it has started them all. It has no limits of
 * its own: it claims whatever there is.
 */
import { setTimeout as pause } from "node:timers/promises";
import { createExecution, request } from "@platform/engine/testing/execution-fixtures";
import { startReleaser } from "@platform/engine/queue/releaser";
import {
  createExecutionDatabase,
  createPostgresExecutionStore,
} from "../store/executions/execution-store.ts";

const silent = () => undefined;
const logger = { debug: silent, info: silent, warn: silent, error: silent };
const [target = "", count = "0", ...rest] = process.argv.slice(2);
const [services, owners] = [rest.slice(0, rest.length / 2), rest.slice(rest.length / 2)];
const store = createPostgresExecutionStore({
  database: createExecutionDatabase(JSON.parse(target), { logger }),
  leaseSeconds: 1,
});
const LEASE_SECONDS = 1;

async function start(limitKey: string, ownerId: string): Promise<void> {
  const owner = { kind: "subscription", id: ownerId, organisationId: ownerId } as const;
  for (let index = 0; index < Number(count); index++)
    await store.create(createExecution({ owner, limitKey }));
}

async function work(): Promise<void> {
  for (;;) {
    const { claims } = await store.claim(
      request({ workerId: String(process.pid), leaseSeconds: LEASE_SECONDS }),
    );
    await Promise.all(
      claims.map(async (claim, index) => {
        await pause(index % 5);
        await store.finish(claim, { status: "FAILED", code: "EXECUTION_ERROR", detail: "no" });
      }),
    );
    await store.sweep();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

startReleaser({ store, logger });
void work();
await Promise.all(services.map(async (key, index) => start(key, owners[index] ?? key)));
process.stdout.write("started\n");
