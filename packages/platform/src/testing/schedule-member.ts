/*
 * A process of its own that starts what is due, and kills itself on the way. Arguments: database (as JSON), and the step after which it
 * ends: plan, claim or start.
 */
import {
  createExecutionDatabase,
  createPostgresExecutionStore,
} from "../store/executions/execution-store.ts";
import { createPlainExecutions, createSchedulingProcess } from "./schedule-scene.ts";

const silent = () => undefined;
const logger = { debug: silent, info: silent, warn: silent, error: silent };
const [target = "", last = ""] = process.argv.slice(2);
const database = createExecutionDatabase(JSON.parse(target), { logger });
const store = createPostgresExecutionStore({ database });
const { plan, claim, starter } = createSchedulingProcess(database, createPlainExecutions(store));

function endAfter(step: string): void {
  if (step === last) process.kill(process.pid, "SIGKILL");
}

await plan();
endAfter("plan");
const claims = await claim();
endAfter("claim");
for (const one of claims) await starter.start(one);
endAfter("start");
