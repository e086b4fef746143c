import { Writable } from "node:stream";
import { pino } from "pino";
import { expect, test } from "vitest";
import { createBuildLogWriter } from "./build-log-writer.ts";

test("a build log ends after so many characters and says so, whatever is written afterwards", async () => {
  const stored: string[] = [];
  const store = async (lines: readonly string[]) => void stored.push(...lines);
  const writer = createBuildLogWriter({ logger: pino({ level: "silent" }), store });
  for (let line = 0; line < 3_000; line++) writer.write("x".repeat(10_000));
  await writer.close();
  expect(stored).toHaveLength(500);
  expect(stored[0]).toHaveLength(4_000);
  expect(stored.at(-1)).toBe("... the rest of the log is omitted");
});

test("lines that could not be stored are logged with the reason and where it happened", async () => {
  const lines: string[] = [];
  const destination = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      lines.push(chunk.toString());
      done();
    },
  });
  const writer = createBuildLogWriter({
    logger: pino({ level: "warn" }, destination),
    store: () => Promise.reject(new Error("the disk is full")),
  });
  writer.write("Collecting numpy");
  await writer.close();
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    expect.objectContaining({
      lines: 1,
      err: expect.objectContaining({
        message: "the disk is full",
        stack: expect.stringContaining("build-log-writer.test.ts"),
      }),
    }),
  ]);
});
