import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { INTERPRETER } from "../testing/python-fixture.ts";

const MODULE = fileURLToPath(new URL("close-inherited.ts", import.meta.url));
/** Above those that Node.js itself keeps from being inherited. */
const LEFT_OPEN = 200;
const LIST = `require("node:child_process").execFileSync("ls", ["-l", "/proc/self/fd"], { encoding: "utf8" })`;

/** The open files of a program that is started by one which was itself started with one more. */
function listInherited(before: string): string {
  const script = `${before}; process.stdout.write(${LIST})`;
  const starter = `import os, sys\nos.dup2(1, ${LEFT_OPEN})\nos.execv(sys.argv[1], sys.argv[1:])`;
  const command = [process.execPath, "-e", script];
  return execFileSync(INTERPRETER, ["-c", starter, ...command], { encoding: "utf8" });
}

test.runIf(process.platform === "linux")(
  "what the starter of this process left open is not passed on",
  () => {
    expect(listInherited("")).toContain(` ${LEFT_OPEN} -> `);
    const listed = listInherited(`require(${JSON.stringify(MODULE)}).closeInherited()`);
    expect(listed).toContain(" 1 -> ");
    expect(listed).not.toContain(` ${LEFT_OPEN} -> `);
  },
);
