import { expect, test } from "vitest";
import { runTrusted, TimeLimitError } from "./processes.ts";
import { TrustedExecutable } from "./trusted-executable.ts";

const SHELL = TrustedExecutable.vouchFor("/bin/sh", "search path");

function run(script: string, timeout = 60_000): Promise<string> {
  return runTrusted(SHELL, ["-c", script, "argument".repeat(1000)], { env: {}, timeout });
}

test.each([
  ["its exit code", "exit 3", "sh ended with exit code 3"],
  ["the signal that ended it", "kill -9 $$", "sh was ended by SIGKILL"],
  ["the last line that it wrote", "echo first >&2; echo last >&2; exit 3", "last"],
])("a program that fails says %s, and not what it was started with", async (_, script, message) => {
  await expect(run(script)).rejects.toThrow(new Error(message));
});

test("a program that takes too long is told apart from one that fails, whatever it wrote", async () => {
  const late = run("echo waiting >&2; exec sleep 60", 500);
  await expect(late).rejects.toThrow(new TimeLimitError("sh", 500));
  await expect(late).rejects.toBeInstanceOf(TimeLimitError);
});
