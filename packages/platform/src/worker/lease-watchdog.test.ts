import { spawn } from "node:child_process";
import { once } from "node:events";
import { execPath } from "node:process";
import { describe, expect, test } from "vitest";

const WATCHDOG = new URL("./lease-watchdog.ts", import.meta.url).href;

/** Runs a process with a lease of one second whose event loop then does as told; gives the signal that ended it, or its output. */
async function runWith(program: string): Promise<string> {
  const source = `
    const { createLeaseWatchdog } = await import(${JSON.stringify(WATCHDOG)});
    const watchdog = createLeaseWatchdog(1);
    const block = (ms) => { const end = Date.now() + ms; while (Date.now() < end); };
    const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    ${program}
    await watchdog.close();
    process.stdout.write("alive");
  `;
  const child = spawn(execPath, ["--input-type=module", "--eval", source], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
  const [, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  return signal ?? output;
}

describe("the lease watchdog", () => {
  test("kills a process whose event loop is stuck past its deadline", async () => {
    expect(await runWith("watchdog.setDeadline(Date.now() + 100); await wait(50); block(5_000);")).toBe(
      "SIGKILL",
    );
  });

  test("leaves a process alone that moves its deadline in time", async () => {
    expect(
      await runWith(
        "for (let n = 0; n < 8; n++) { watchdog.setDeadline(Date.now() + 500); await wait(100); }",
      ),
    ).toBe("alive");
  });

  test("leaves a process alone that is stuck while nothing runs", async () => {
    expect(
      await runWith("watchdog.setDeadline(Date.now() + 100); watchdog.setDeadline(null); block(1_000);"),
    ).toBe("alive");
  });
});
