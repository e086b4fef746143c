import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { findProcesses } from "../testing/find-processes.ts";
import { makeListable } from "../testing/make-listable.ts";
import { waitFor } from "../testing/python-fixture.ts";

const PARENT = fileURLToPath(new URL("../testing/python-parent.ts", import.meta.url));

test.each([
  ["B", "run", "1234.601"],
  ["D", "run", "1234.602"],
  ["B", "import", "1234.603"],
  ["C", "run", "1234.604"],
  ["C", "import", "1234.605"],
])(
  "no process outlives a Node that was killed by kill -9 (sandbox %s, during %s)",
  async (level, stage, seconds) => {
    const parent = spawn(process.execPath, [PARENT, level, seconds, stage], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { PATH: process.env["PATH"] },
    });
    const [printed] = (await once(parent.stdout, "data")) as [Buffer];
    const directory = printed.toString().trim();
    try {
      // Node itself has the text among its arguments too.
      await waitFor("user code runs", () => findProcesses(seconds).length === 4);
      expect(findProcesses(directory).length).toBeGreaterThan(0);
      parent.kill("SIGKILL");
      await waitFor(
        "every process is gone",
        () => findProcesses(directory).length + findProcesses(seconds).length === 0,
      );
    } finally {
      makeListable(directory);
      rmSync(directory, { recursive: true, force: true });
    }
  },
);
