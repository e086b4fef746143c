import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { DEFAULT_BUILD_LIMITS, limitCommand } from "./build-limits.ts";
import { findInterpreter } from "./interpreter.ts";

const SAY = { executable: "/bin/sh", args: ["-c", "echo begun >&2"] };

test.each([
  ["begins where somebody reads what it prints", "begun\n"],
  ["does not begin where nobody does, as Node was killed", ""],
])("a program of a build %s", async (_whose, printed) => {
  const { executable, args } = limitCommand(
    await findInterpreter({ searchPath: "/usr/bin" }),
    DEFAULT_BUILD_LIMITS,
    SAY,
  );
  const child = spawn("/bin/sh", ["-c", 'read line; exec "$0" "$@"', executable, ...args]);
  if (printed === "") {
    child.stdout.destroy();
    await once(child.stdout, "close");
  }
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => void (said += chunk.toString()));
  child.stdin.end("go\n");
  await once(child, "close");
  expect(said).toBe(printed);
});
