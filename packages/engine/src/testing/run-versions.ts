/** Started by tests as another user: runs the versions that it reads, one in a line, and prints how each ended. */
import { createInterface } from "node:readline";
import { createVersionRunner } from "./version-runner.ts";
import type { Order } from "./version-runner.ts";

const runner = await createVersionRunner();
for await (const line of createInterface(process.stdin))
  process.stdout.write(`${JSON.stringify(await runner.run(JSON.parse(line) as Order))}\n`);
await runner.close();
