import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execPath } from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { readMonotonic } from "@platform/engine/base/monotonic";

const WATCHDOG = new URL("./lease-watchdog.ts", import.meta.url).href;
const CLOCK = new URL("../../../engine/src/base/monotonic.ts", import.meta.url).href;

/** Runs a process with a lease whose event loop then does as told; gives the signal that ended it, or its output. */
function start(program: string, leaseSeconds = 1) {
  const source = `
    const { createLeaseWatchdog } = await import(${JSON.stringify(WATCHDOG)});
    const { readMonotonic } = await import(${JSON.stringify(CLOCK)});
    const watchdog = createLeaseWatchdog(${leaseSeconds});
    const block = (ms) => { const end = readMonotonic() + ms; while (readMonotonic() < end); };
    const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    ${program}
    await watchdog.close();
    process.stdout.write("alive");
  `;
  const child = spawn(execPath, ["--input-type=module", "--eval", source], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
  const end = once(child, "close").then(([, signal]) => (signal as NodeJS.Signals | null) ?? output);
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (log += chunk));
  return { child, end, readOutput: () => output, readLog: () => log };
}

const runWith = (program: string) => start(program).end;

describe("the lease watchdog", () => {
  test("kills a process whose event loop is stuck past its deadline", async () => {
    expect(await runWith("watchdog.setDeadline(readMonotonic() + 100); await wait(50); block(20_000);")).toBe(
      "SIGKILL",
    );
  });

  test("says why in the log, for which the event loop has no time any more", async () => {
    const { end, readLog } = start(
      "watchdog.setDeadline(readMonotonic() + 100); await wait(50); block(20_000);",
    );
    await end;
    expect(JSON.parse(readLog())).toMatchObject({
      level: 60,
      msg: expect.stringContaining("blocked past a lease"),
    });
  });

  test("kills without a word a process in which nothing can be written, since all threads for files wait", async () => {
    const directory = mkdtempSync(join(tmpdir(), "watchdog-"));
    const path = join(directory, "silent");
    execFileSync("mkfifo", [path]);
    const { end, readLog } = start(`
      const { open } = await import("node:fs");
      for (let thread = 0; thread < 4; thread++) open(${JSON.stringify(path)}, () => undefined);
      watchdog.setDeadline(readMonotonic() + 100);
      await wait(50);
      block(20_000);
    `);
    try {
      expect([await end, readLog()]).toEqual(["SIGKILL", ""]);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  test("leaves a process alone that moves its deadline in time", async () => {
    expect(
      await runWith(
        "for (let n = 0; n < 30; n++) { watchdog.setDeadline(readMonotonic() + 2_000); await wait(100); }",
      ),
    ).toBe("alive");
  });

  test("leaves a process alone that is stuck while nothing runs", async () => {
    expect(
      await runWith("watchdog.setDeadline(readMonotonic() + 100); watchdog.setDeadline(null); block(1_000);"),
    ).toBe("alive");
  });

  test("leaves a process alone that was stopped past its deadline and goes on, and kills it when it then gets stuck", async () => {
    const { child, end, readOutput } = start(
      `
      watchdog.setDeadline(readMonotonic() + 300);
      // One reading after the other, the first before the word: a pause is seen wherever it falls.
      let before = readMonotonic();
      process.stdout.write("held ");
      for (let now = before; now - before <= 500; now = readMonotonic()) {
        before = now;
        await wait(20);
      }
      for (let turn = 0; turn < 50; turn++) await wait(20);
      process.stdout.write("turning ");
      block(20_000);
    `,
      10,
    );
    await expect.poll(readOutput).toContain("held");
    child.kill("SIGSTOP");
    const stoppedAt = readMonotonic();
    // The pause itself is what is tried: it has to last longer than deadline and patience.
    while (readMonotonic() - stoppedAt < 2_500) await delay(20);
    child.kill("SIGCONT");
    expect([await end, readOutput()]).toEqual(["SIGKILL", "held turning "]);
  });
});
