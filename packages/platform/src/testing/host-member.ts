/* A process of its own with something that never ends, and a listener of "exit" that throws. */
import { readConfig } from "../config/config.ts";
import { runProcess } from "../roles/host-process.ts";

process.on("exit", () => {
  throw new Error("a listener of exit threw");
});
await runProcess(readConfig(), async () => {
  setInterval(() => undefined, 1_000);
  process.stdout.write("up\n");
});
