/*
 * A process of its own that starts executions of a subscription with the same keys, over and over, for tests that let several race and kill
 * them. Arguments: database (as JSON), id of the subscription, number of keys. Prints the id of each answer.
 */
import { createIdempotencyKey } from "@platform/engine/store/idempotency";
import { createExecution } from "@platform/engine/testing/execution-fixtures";
import {
  createExecutionDatabase,
  createPostgresExecutionStore,
} from "../store/executions/execution-store.ts";

const silent = () => undefined;
const logger = { debug: silent, info: silent, warn: silent, error: silent };
const [target = "", ownerId = "", keys = "1"] = process.argv.slice(2);
const store = createPostgresExecutionStore({
  database: createExecutionDatabase(JSON.parse(target), { logger }),
});
const owner = { kind: "subscription", id: ownerId, organisationId: ownerId } as const;

async function start(index: number): Promise<void> {
  const key = createIdempotencyKey(`key ${index}`, "", Buffer.from("{}"));
  for (;;) {
    const { id } = await store.create(createExecution({ owner, key }));
    process.stdout.write(`${id}\n`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

await Promise.all(Array.from({ length: Number(keys) }, (_, index) => start(index)));
