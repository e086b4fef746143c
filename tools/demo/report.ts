import { stdout } from "node:process";
import { SECOND } from "@platform/engine/base/time";

const STEP_WIDTH = 33;
let clock = performance.now();

/** One line a step, with the time that it took. */
export function report(step: string, detail: string): void {
  const now = performance.now();
  const seconds = `${((now - clock) / SECOND).toFixed(2)} s`.padStart(9);
  stdout.write(`${`${seconds}  ${step.padEnd(STEP_WIDTH)} ${detail}`.trimEnd()}\n`);
  clock = now;
}

/** Says who does the steps that follow. */
export function announce(text: string): void {
  stdout.write(`\n${text}\n`);
}

/** What belongs to the step before. */
export function remark(text: string): void {
  stdout.write(`${" ".repeat(11)}${text}\n`);
}
