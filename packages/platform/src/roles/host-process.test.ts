import { spawn } from "node:child_process";
import { once } from "node:events";
import { execPath } from "node:process";
import { expect, test } from "vitest";

const MEMBER = new URL("../testing/host-member.ts", import.meta.url).pathname;

test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
  "%s ends a process also when what listens to its exit throws",
  async (signal) => {
    const member = spawn(execPath, [MEMBER], { stdio: ["ignore", "pipe", "ignore"], env: {} });
    try {
      await once(member.stdout, "data");
      member.kill(signal);
      await expect.poll(() => member.exitCode ?? member.signalCode).toBe(0);
    } finally {
      member.kill("SIGKILL");
    }
  },
);
