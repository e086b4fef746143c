/*
 * Loaded before a process of the platform (node --import): its wall clock, as JavaScript sees it, is ahead of the machine's by as many
 * milliseconds as a file says. Monotonic clocks and timers stay right, as they do where the clock of a machine is set.
 */
import { readFileSync } from "node:fs";
import { env } from "node:process";

const READ_EVERY_MS = 50;

const file = env["FAULTS_CLOCK_FILE"];
if (file !== undefined) stepBy(file);

function stepBy(path: string): void {
  const machineNow = Date.now.bind(Date);
  let aheadMs = 0;
  const read = () => {
    try {
      aheadMs = Number(readFileSync(path, "utf8"));
    } catch {
      aheadMs = 0;
    }
  };
  read();
  setInterval(read, READ_EVERY_MS).unref();
  const now = () => machineNow() + aheadMs;
  Date.now = now;
  globalThis.Date = new Proxy(Date, {
    construct: (target, given: unknown[], newTarget) =>
      Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget) as Date,
    apply: () => new Date(now()).toString(),
  });
}
