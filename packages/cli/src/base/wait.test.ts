import { expect, test } from "vitest";
import { pause } from "./wait.ts";

test("a pause that is over already is none, and Node.js warns nobody of it", async () => {
  const warnings: string[] = [];
  const note = ({ message }: Error) => warnings.push(message);
  process.on("warning", note);
  try {
    await pause(-19_054, new AbortController().signal);
    await new Promise(setImmediate);
  } finally {
    process.off("warning", note);
  }
  expect(warnings).toEqual([]);
});
